"""What the arguments of the built-in tools have in common: wire names outside, a plain schema for the model."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue, SkipJsonSchema

# Optional numbers whose schema is a plain one: "integer", not "integer or null".
OptionalCount = Annotated[int, Field(ge=1)] | SkipJsonSchema[None]
OptionalIndex = Annotated[int, Field(ge=0)] | SkipJsonSchema[None]
OptionalText = str | SkipJsonSchema[None]


class ToolArguments(BaseModel):
    """Arguments of a call; both the wire's names and Python's are taken, unknown ones are ignored."""

    model_config = ConfigDict(populate_by_name=True, extra="ignore")

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The schema without `default: null`, which some providers refuse, and without our docstring."""
        schema = handler.resolve_ref_schema(handler(core_schema))
        schema.pop("description", None)
        for member in schema.get("properties", {}).values():
            if member.get("default", ...) is None:
                del member["default"]
        return schema
