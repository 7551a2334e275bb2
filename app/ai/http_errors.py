"""What a failed request means: status, body or exception → ModelError; it must never show a key or a raw page."""

from __future__ import annotations

import json
import math
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from app.ai.http_library import httpx
from app.ai.overflow import is_overflow_text
from app.errors import ErrorKind, ModelError

# Longer than any sane error text; a page of HTML or an echoed request is longer.
_MAX_TEXT = 1200
# Shorter "keys" are words that would be blotted out of innocent text.
_MIN_SECRET = 8

_BY_TYPE: dict[str, ErrorKind] = {
    "overloaded_error": ErrorKind.OVERLOADED,
    "unavailable": ErrorKind.OVERLOADED,
    "rate_limit_error": ErrorKind.RATE_LIMIT,
    "rate_limit_exceeded": ErrorKind.RATE_LIMIT,
    "resource_exhausted": ErrorKind.RATE_LIMIT,
    "authentication_error": ErrorKind.AUTH,
    "permission_error": ErrorKind.AUTH,
    "invalid_api_key": ErrorKind.AUTH,
    "api_key_invalid": ErrorKind.AUTH,
    "permission_denied": ErrorKind.AUTH,
    "unauthenticated": ErrorKind.AUTH,
    "not_found_error": ErrorKind.NOT_FOUND,
    "model_not_found": ErrorKind.NOT_FOUND,
    "invalid_request_error": ErrorKind.BAD_REQUEST,
    "invalid_argument": ErrorKind.BAD_REQUEST,
    "invalid_prompt": ErrorKind.BAD_REQUEST,
    "request_too_large": ErrorKind.OVERFLOW,
    "timeout_error": ErrorKind.TIMEOUT,
    "deadline_exceeded": ErrorKind.TIMEOUT,
    "api_error": ErrorKind.SERVER,
    "server_error": ErrorKind.SERVER,
    "internal_server_error": ErrorKind.SERVER,
    "internal": ErrorKind.SERVER,
}
# A 429 that waiting does not cure: the account is empty, not the minute's allowance.
_QUOTA = re.compile(
    r"insufficient[_ ]quota|insufficient[_ ](?:balance|credits|funds)|billing_(?:error|hard_limit_reached|not_active)"
    r"|credit balance is too low|out of credits|usage[_ ]limit[_ ]reached|usage_not_included|payment required",
    re.IGNORECASE,
)
_HINTS: dict[ErrorKind, str] = {
    ErrorKind.AUTH: "Check the API key: --api-key, the provider's environment variable, or models.json",
    ErrorKind.QUOTA: "Check the plan and the balance of the account, or choose another model",
    ErrorKind.RATE_LIMIT: "Wait a little, or choose another model",
    ErrorKind.OVERLOADED: "Try again in a while, or choose another model",
    ErrorKind.SERVER: "Try again; if it stays, the provider has a fault",
    ErrorKind.OVERFLOW: "The conversation is longer than the model can read: compact it, or choose a larger model",
    ErrorKind.NOT_FOUND: "Check the model's name and the baseUrl",
    ErrorKind.NETWORK: "Check the network, the proxy settings and the baseUrl",
    ErrorKind.TIMEOUT: "Try again; if it stays, check the network and the provider's status",
    ErrorKind.CUT: "Try again: the connection broke before the answer was whole",
    ErrorKind.EMPTY: "Try again; if it stays, check the baseUrl",
    ErrorKind.GARBAGE: "Check that the baseUrl leads to the provider's API and not to a web page or a proxy",
}


def model_error(
    kind: ErrorKind, message: str, *, status: int | None = None, retryable: bool | None = None
) -> ModelError:
    """A ModelError of that kind with the hint that belongs to it."""
    return ModelError(kind, message, hint=_HINTS.get(kind, ""), status=status, retryable=retryable)


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds that the provider asks to wait, from `retry-after-ms` or `retry-after` (seconds or an HTTP date).

    None for what is absent, zero, negative or unreadable. Never capped: that is the runtime's business.
    """
    seconds = _positive(headers.get("retry-after-ms", ""), 0.001)
    if seconds is not None:
        return seconds
    text = headers.get("retry-after", "").strip()
    seconds = _positive(text, 1)
    if seconds is not None or not text[:1].isalpha():
        return seconds
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    wait = (moment - (now or datetime.now(UTC))).total_seconds()
    return wait if wait > 0 else None


def _positive(text: str, unit: float) -> float | None:
    try:
        value = float(text) * unit
    except ValueError:
        return None
    return value if math.isfinite(value) and value > 0 else None


def redacted(text: str, secrets: tuple[str, ...]) -> str:
    """The text without any of the secrets that are long enough to be one."""
    for secret in secrets:
        if len(secret) >= _MIN_SECRET:
            text = text.replace(secret, "[key]")
    return text


def status_error(
    host: str, status: int, headers: Mapping[str, str], body: bytes, secrets: tuple[str, ...] = ()
) -> ModelError:
    """The error for an answer that is no success: the provider's own words where it gave any, else the status."""
    text = body.decode("utf-8", "replace").strip()
    if 300 <= status < 400:
        place = redacted(headers.get("location", ""), secrets)
        return model_error(
            ErrorKind.NOT_FOUND, f"{host} answered {status}, a redirect to {place or 'nowhere'}", status=status
        )
    fault = _error_object(text)
    if fault is not None:
        error = fault_error(host, fault, status=status, secrets=secrets)
    else:
        words = _plain_words(text, headers.get("content-type", ""))
        kind = _kind(status, (), words)
        says = f": {words}" if words else " (no body)"
        error = model_error(kind, redacted(f"{host} answered {status}{says}", secrets), status=status)
    error.retry_after_s = retry_after(headers) or _retry_delay(fault)
    wanted = headers.get("x-should-retry", "").strip().lower()
    if wanted in ("true", "false") and error.kind not in (ErrorKind.QUOTA, ErrorKind.OVERFLOW):
        error.retryable = wanted == "true"
    return error


def fault_error(host: str, fault: object, *, status: int | None = None, secrets: tuple[str, ...] = ()) -> ModelError:
    """The error for a provider's error object (or text), in a body or in the middle of a stream."""
    members: dict[str, Any] = fault if isinstance(fault, dict) else {"message": fault}
    code = members.get("code")
    words = [word for word in (members.get("type"), code, members.get("status")) if isinstance(word, str) and word]
    details = members.get("details")
    for detail in details if isinstance(details, list) else ():
        if isinstance(detail, dict) and isinstance(detail.get("reason"), str):
            words.insert(0, detail["reason"])
    message = members.get("message") or members.get("detail") or ""
    if not isinstance(message, str):
        message = json.dumps(message, ensure_ascii=False)
    metadata = members.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    if isinstance(raw, str) and raw.strip():
        message = f"{message}\n{raw.strip()}" if message else raw.strip()
    if not message and not words:
        message = json.dumps(members, ensure_ascii=False)
    number = _as_status(code) or _as_status(members.get("status"))
    kind = _kind(status or number, tuple(words), message)
    answered = status or number
    head = f"{host} answered {answered}" if answered else f"{host} reported an error"
    if words:
        head += f" ({words[0]})"
    text = f"{head}: {_short(message)}" if message else head
    return model_error(kind, redacted(text, secrets), status=answered)


def _as_status(value: object) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) == 3:
        value = int(value)
    return value if isinstance(value, int) and 400 <= value < 600 else None


def _kind(status: int | None, words: tuple[str, ...], message: str) -> ErrorKind:
    everything = " ".join((*words, message))
    if status in (None, 400, 413, 422, 500) and is_overflow_text(everything):
        return ErrorKind.OVERFLOW
    if status == 402 or _QUOTA.search(everything):
        return ErrorKind.QUOTA
    by_status = _kind_of_status(status) if status is not None else None
    for word in words:
        kind = _BY_TYPE.get(word.lower())
        # A vague type must not hide what the status says: "invalid_request_error" comes with 401 and 404 as well.
        if kind is not None and (by_status in (None, ErrorKind.BAD_REQUEST, ErrorKind.SERVER)):
            return kind
    return by_status or ErrorKind.SERVER


def _kind_of_status(status: int) -> ErrorKind:
    match status:
        case 401 | 403 | 407:
            return ErrorKind.AUTH
        case 404 | 405 | 410:
            return ErrorKind.NOT_FOUND
        case 408 | 504 | 524:
            return ErrorKind.TIMEOUT
        case 409 | 425:
            return ErrorKind.SERVER
        case 413:
            return ErrorKind.OVERFLOW
        case 429:
            return ErrorKind.RATE_LIMIT
        case 503 | 529:
            return ErrorKind.OVERLOADED
        case _:
            return ErrorKind.SERVER if status >= 500 else ErrorKind.BAD_REQUEST


def _error_object(text: str) -> object | None:
    """The error in a JSON body: `error`, or the body itself if it looks like one; None when the body is no JSON."""
    if not text.startswith(("{", "[")):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, dict):
        return None
    error: object = value.get("error") or value.get("errors") or value
    return error[0] if isinstance(error, list) and error else error


def body_fault(text: str) -> object | None:
    """The error object of a JSON body that came with status 200, or None when there is none in it."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return (value.get("error") or None) if isinstance(value, dict) else None


def _retry_delay(fault: object) -> float | None:
    """Google says how long to wait inside the body: `details[].retryDelay`, such as "17s"."""
    details = fault.get("details") if isinstance(fault, dict) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and delay.endswith("s"):
            return _positive(delay[:-1], 1)
    return None


def _plain_words(text: str, content_type: str) -> str:
    if is_page(text, content_type):
        title = re.search(r"<title[^>]*>([^<]{1,200})</title>", text, re.IGNORECASE)
        return f"a web page ({' '.join(title.group(1).split())})" if title else "a web page"
    return _short(text)


def is_page(text: str, content_type: str = "") -> bool:
    """Whether a body is HTML or XML rather than an answer."""
    return "html" in content_type.lower() or text.lstrip()[:1] == "<"


def _short(text: str) -> str:
    """At most `_MAX_TEXT` characters, without the full stop: a hint follows."""
    text = text.strip().removesuffix(".")
    return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT].rstrip() + "…"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what caused it, group members included."""
    seen: list[BaseException] = []
    queue = [error]
    while queue:
        error = queue.pop(0)
        if error is None or error in seen:
            continue
        seen.append(error)
        yield error
        if isinstance(error, BaseExceptionGroup):
            queue.extend(error.exceptions)
        queue.extend((error.__cause__, error.__context__))


def transport_error(host: str, error: Exception, *, opened: bool, idle_timeout_s: float) -> ModelError:
    """The error for a connection that failed; `opened` says whether the answer had begun to arrive."""
    causes = tuple(_chain(error))
    if isinstance(error, httpx.ConnectTimeout):
        return model_error(ErrorKind.TIMEOUT, f"{host} did not accept a connection in time")
    if isinstance(error, httpx.TimeoutException):
        return model_error(ErrorKind.TIMEOUT, f"{host} sent nothing for {idle_timeout_s:g} s")
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
        return ModelError(
            ErrorKind.BAD_REQUEST, f"The address {host!r} can't be used: {error}", hint="Check the baseUrl"
        )
    if isinstance(error, httpx.DecodingError):
        return model_error(ErrorKind.GARBAGE, f"{host} sent a body that can't be unpacked")
    if isinstance(error, httpx.ProxyError):
        return model_error(ErrorKind.NETWORK, f"The proxy refused the connection to {host}: {_short(str(error))}")
    if isinstance(error, httpx.LocalProtocolError):
        return ModelError(
            ErrorKind.BAD_REQUEST,
            f"The request to {host} can't be sent: a header has illegal characters",
            hint="Check the API key and the headers in models.json",
        )
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return ModelError(
                ErrorKind.NETWORK,
                f"The certificate of {host} can't be trusted: {cause.verify_message}",
                hint="Check the clock and the proxy; SSL_CERT_FILE names a file of further certificates",
                retryable=False,
            )
    if opened:
        return model_error(ErrorKind.CUT, f"The connection to {host} broke before the answer ended")
    return model_error(ErrorKind.NETWORK, _connect_words(host, causes))


def _connect_words(host: str, causes: tuple[BaseException, ...]) -> str:
    for cause in causes:
        if isinstance(cause, ssl.SSLError):
            return f"No secure connection to {host}: {cause.reason or cause}"
        if isinstance(cause, socket.gaierror):
            return f"The name {host} can't be found"
        if isinstance(cause, ConnectionRefusedError):
            return f"{host} refused the connection: nothing listens there"
    if any(isinstance(cause, httpx.RemoteProtocolError) for cause in causes):
        return f"{host} closed the connection without an answer"
    return f"No connection to {host}: {_short(str(causes[0])) or type(causes[0]).__name__}"
