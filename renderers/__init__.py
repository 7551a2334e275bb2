"""How one message or one tool call looks: data in, a Textual Visual out. Importing registers the built-in ones."""

from renderers import bash, edit, find, grep, ls, read, write

__all__ = ["bash", "edit", "find", "grep", "ls", "read", "write"]
