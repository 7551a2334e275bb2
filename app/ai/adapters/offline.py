"""The offline guide: the model of those who have none. It is no language model and must never pass for one.

A pure function of the request: plain English of the last user messages and the results so far give the next calls or
the report. The tools are the real ones, run by the real loop; what it says comes from their results.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from app.ai.adapters.offline_intents import Intent, Tour
from app.ai.adapters.offline_parse import drops_earlier, parse
from app.ai.adapters.offline_plan import Report, next_step
from app.ai.adapters.offline_reply import Done, block, code
from app.ai.adapters.offline_topics import LABEL
from app.ai.adapters.offline_tour import TOUR_TOOLS, Calls, Round
from app.ai.adapters.scripted import CHARS_PER_TOKEN, Pace, PlayedStream, answer, prompt_text, tool_call
from app.ai.messages import AssistantMessage, Context, Message, Model, ToolResultMessage, Usage, UserMessage
from app.ai.stream import AssistantStream, StreamOptions

PROVIDER = "offline"
_TOKENS_PER_SECOND = 250.0  # readable as it comes
_LONGEST_S = 1.5  # a long answer comes faster
_ABORTED = ("aborted", "interrupted before it finished")


def open_stream(model: Model, context: Context, options: StreamOptions) -> AssistantStream:
    """The guide's answer to `context` as a stream at a readable pace (at most about 1.5 seconds)."""
    message = reply(context)
    size = sum(len(str(block.to_wire())) for block in message.content) / CHARS_PER_TOKEN
    prompt, output = ceil(len(prompt_text(context)) / CHARS_PER_TOKEN), ceil(size)
    message.usage = Usage(input=prompt, output=output, total_tokens=prompt + output)
    return PlayedStream(message, model, Pace(max(_TOKENS_PER_SECOND, size / _LONGEST_S), chunk_tokens=3))


def reply(context: Context) -> AssistantMessage:
    """The guide's next message: calls of tools that are on offer, or its report. Depends on `context` alone."""
    if not context.tools and "summar" in (context.system_prompt or "").lower():
        return answer(_excerpt(context))
    begin, texts = _pending(context.messages)
    intents = [intent for text in texts for intent in parse(text)]
    step = _next(intents, _rounds(context.messages[begin:]), {tool.name for tool in context.tools})
    if isinstance(step, Report):
        return answer(step.text if _has_reported(context) else f"{LABEL}\n\n{step.text}")
    made = sum(len(message.tool_calls()) for message in context.messages if isinstance(message, AssistantMessage))
    asked = next((m.timestamp for m in reversed(context.messages) if isinstance(m, UserMessage)), 0)
    calls = [
        tool_call(name, arguments, f"guide-{asked:x}-{made + number}")
        for number, (name, arguments) in enumerate(step.calls, 1)
    ]
    return answer(step.text, *calls)


def _has_reported(context: Context) -> bool:
    """Whether the conversation holds a report already: who reads it knows by then who answers."""
    return any(isinstance(message, AssistantMessage) and not message.tool_calls() for message in context.messages)


def _next(intents: Sequence[Intent], rounds: Sequence[Round], tools: set[str]) -> Calls | Report:
    """Walk the intents through the rounds that were made for them; the first that needs more gives the next calls."""
    reports = []
    at = 0
    for intent in intents:
        used = 0
        while isinstance(step := next_step(intent, rounds[at : at + used]), Calls):
            needed = TOUR_TOOLS if isinstance(intent, Tour) else {name for name, _ in step.calls}
            missing = sorted(needed - tools)
            if missing:
                step = Report(_missing(missing, tools))
                break
            if at + used >= len(rounds):
                return step
            used += 1
        at += used
        reports.append(step.text)
    return Report("\n\n".join(reports))


def _missing(names: Sequence[str], tools: set[str]) -> str:
    active = f"Active are {', '.join(map(code, sorted(tools)))}." if tools else "No tool is active."
    return f"I would need {' and '.join(map(code, names))} for that, which is not active here. {active}"


def _pending(messages: Sequence[Message]) -> tuple[int, list[str]]:
    """Where the present request begins, and its texts: the last user messages that no final answer has followed.

    A message that steers a run is added to what is being done, unless it says to stop or do something instead.
    """
    begin = max((index + 1 for index, message in enumerate(messages) if _ends_request(message)), default=0)
    users = [index for index, message in enumerate(messages) if isinstance(message, UserMessage)]
    own = [index for index in users if index >= begin] or users[-1:]
    for index in own:
        if index != own[0] and drops_earlier(_text(messages[index])):
            own = [later for later in own if later >= index]
    return (own[0] if own else 0), [_text(messages[index]) for index in own]


def _ends_request(message: Message) -> bool:
    """Whether what was asked before `message` is over: answered, failed, stopped, or another model's affair."""
    if isinstance(message, AssistantMessage):
        goes_on = message.stop_reason == "toolUse" and message.tool_calls()
        return not goes_on or message.provider not in (PROVIDER, "")
    if isinstance(message, ToolResultMessage):
        return message.is_error and any(word in message.text()[-80:] for word in _ABORTED)
    return False


def _rounds(messages: Sequence[Message]) -> list[list[Done]]:
    """The guide's own calls with their results, one list for each of its messages."""
    results = {message.tool_call_id: message for message in messages if isinstance(message, ToolResultMessage)}
    rounds = []
    for message in messages:
        if isinstance(message, AssistantMessage) and message.provider == PROVIDER and message.tool_calls():
            unanswered = ToolResultMessage(is_error=True)
            rounds.append([Done(call, results.get(call.id, unanswered)) for call in message.tool_calls()])
    return rounds


def _text(message: Message) -> str:
    if not isinstance(message, UserMessage):
        return ""
    if isinstance(message.content, str):
        return message.content
    return "\n".join(part.text for part in message.content if part.type == "text")


def _excerpt(context: Context) -> str:
    """Asked for a summary, the guide can only quote: how it began and how it stood."""
    text = "\n".join(_text(message) for message in context.messages)
    parts = ["The offline guide is not a language model and can't summarise. It began:", block(text[:600], limit=12)]
    return "\n\n".join([*parts, "And it ended:", block(text[-1200:], limit=25, tail=True)])
