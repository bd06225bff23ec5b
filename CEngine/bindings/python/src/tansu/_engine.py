"""Calls of the engine: their results and errors, texts and documents on the way in and out, and functions that it calls."""

import io
import itertools
import os
import threading
from typing import Any, BinaryIO, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import bson
from bson.codec_options import CodecOptions

from . import errors
from ._native import ffi, lib

NULL = ffi.NULL
DEFAULT_CODEC: "CodecOptions[Dict[str, Any]]" = CodecOptions()
EMPTY = bson.encode({})
"""A document without fields, as a query or as options."""

Progress = Callable[[int, int], object]
"""Is called with how much is done and the total, 0 if that is unknown; cancels the call by returning ``False`` or raising."""

_OK, _DONE = 0, 1
_KEPT_BYTES = 1 << 20

lib.native_init(threading.main_thread().ident)

# ---- Results ----

_calls: List[Any] = []


def take() -> Any:
    """A ``native_call`` for one call; :func:`give` it back."""
    try:
        return _calls.pop()
    except IndexError:
        call = lib.native_call_new()
        if call == NULL:
            raise errors.OutOfMemory("Out of memory") from None
        return ffi.gc(call, lib.native_call_free)


def give(call: Any) -> None:
    """Makes it available to the next call, unless it holds much memory."""
    if call.size <= _KEPT_BYTES and len(_calls) < 64:
        _calls.append(call)


def failure(status: int, call: Any) -> errors.Error:
    """The exception for a status."""
    error = call.error
    message = ffi.string(error.message).decode("utf-8", "replace")
    context = ffi.string(error.context).decode("utf-8", "replace")
    made = errors.BY_CODE.get(status, errors.Error)(message, context, error.offset, error.sys_errno)
    give(call)
    return made


def perform(function: Any, *arguments: Any) -> Any:
    """Makes a call. Returns its ``native_call``, for :func:`give`."""
    call = take()
    status = function(*arguments, call)
    if status != _OK:
        raise failure(status, call)
    return call


def run(function: Any, *arguments: Any) -> None:
    """Makes a call without a result."""
    give(perform(function, *arguments))


def result(call: Any) -> bytes:
    """The bytes of a result; gives the call back."""
    data: bytes = ffi.unpack(call.data, call.size) if call.size else b""
    give(call)
    return data


def report(function: Any, *arguments: Any) -> Dict[str, Any]:
    """Makes a call whose result is a document of the engine."""
    return bson.decode(result(perform(function, *arguments)), DEFAULT_CODEC)


# ---- Arguments ----


def name(text: str, what: str = "collection") -> bytes:
    """A name as the engine takes it. Raises InvalidName for text that C cannot have."""
    if not isinstance(text, str):
        raise TypeError(f"the name of {what} must be a str, not {type(text).__name__}")
    try:
        encoded = text.encode("utf-8")
    except UnicodeEncodeError:
        raise errors.InvalidName(f"The name of the {what} is not Unicode text") from None
    if b"\0" in encoded:
        raise errors.InvalidName(f"The name of the {what} contains a NUL")
    return encoded


def text(value: str, what: str) -> bytes:
    """Text without NUL, as the engine takes it."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a str, not {type(value).__name__}")
    encoded = value.encode("utf-8")
    if b"\0" in encoded:
        raise errors.InvalidArgument(f"{what} contains a NUL")
    return encoded


def path(value: Union[str, "os.PathLike[str]"]) -> bytes:
    """A path of the file system."""
    encoded = os.fsencode(value)
    if b"\0" in encoded:
        raise errors.InvalidArgument("A path contains a NUL")
    return encoded


def document(value: Optional[Mapping[str, Any]], codec: "CodecOptions[Any]", what: str) -> bytes:
    """A document in BSON form."""
    if value is None:
        return EMPTY
    if type(value) is not dict and not isinstance(value, Mapping):
        raise TypeError(f"{what} must be a mapping, not {type(value).__name__}")
    return bson.encode(value, False, codec)


def whole(value: int, what: str, least: int = 0) -> int:
    """A whole number that C can have."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} must be an int, not {type(value).__name__}")
    if not least <= value < 1 << 63:
        raise errors.InvalidArgument(f"{what} must be at least {least} and have 64 bits")
    return value


def names(values: Optional[Sequence[str]], what: str) -> Optional[List[str]]:
    """A list of names, which a text is not."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{what} must be a list of names, not {type(values).__name__}")
    return None if values is None else list(values)


def write(file: BinaryIO, data: Any) -> Optional[int]:
    """Writes to a file; how many bytes it took, where it may take fewer."""
    written: Optional[int] = file.write(data)
    if written is None and isinstance(file, io.RawIOBase):
        raise BlockingIOError("The file takes nothing now; give one whose writes block")
    return written


# ---- Functions that the engine calls ----

_contexts: Dict[int, Any] = {}
"""What the engine's contexts stand for. They are numbers, so that none can dangle."""
_numbers = itertools.count(1)


def context(target: Any) -> Tuple[int, Any]:
    """A number for :func:`forget`, and a context for the engine."""
    number = next(_numbers)
    _contexts[number] = target
    return number, ffi.cast("void *", number)


def forget(number: int) -> None:
    _contexts.pop(number, None)


def _target(pointer: Any) -> Any:
    return _contexts.get(int(ffi.cast("uintptr_t", pointer)))


class _Callback:
    """A function that a call calls, and what it raised."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.raised: Optional[BaseException] = None


def with_callbacks(
    function: Any, arguments: Tuple[Any, ...], progress: Optional[Progress], stream: Any = None
) -> Any:
    """:func:`perform` with a function for its progress. ``stream`` stands in the place of ``arguments`` that is Ellipsis."""
    if progress is not None and not callable(progress):
        raise TypeError("progress must be callable")
    watched, streamed = _Callback(progress), _Callback(stream)
    numbers = []
    call = take()
    try:
        if progress is not None:
            number, call.progress = context(watched)
            numbers.append(number)
        if stream is not None:
            number, pointer = context(streamed)
            numbers.append(number)
            arguments = tuple(pointer if argument is Ellipsis else argument for argument in arguments)
        status = function(*arguments, call)
    finally:
        call.progress = NULL
        for number in numbers:
            forget(number)
    raised = watched.raised or streamed.raised
    if raised is not None:
        raise raised
    if status != _OK:
        raise failure(status, call)
    return call


@ffi.def_extern(error=0)  # type: ignore[untyped-decorator,unused-ignore]
def python_progress(pointer: Any, done: int, total: int) -> int:
    callback = _target(pointer)
    try:
        return 0 if callback.function(done, total) is False else 1
    except BaseException as raised:
        callback.raised = raised
        return 0


@ffi.def_extern(error=0)  # type: ignore[untyped-decorator,unused-ignore]
def python_write(pointer: Any, data: Any, size: int) -> int:
    callback = _target(pointer)
    try:
        rest = memoryview(bytes(ffi.buffer(data, size)))
        while rest:
            written = callback.function(rest)
            rest = rest[len(rest) if written is None else written :]
        return 1
    except BaseException as raised:
        callback.raised = raised
        return 0


@ffi.def_extern(error=-1)  # type: ignore[untyped-decorator,unused-ignore]
def python_read(pointer: Any, data: Any, capacity: int) -> int:
    callback = _target(pointer)
    try:
        read = callback.function(capacity)
        if not isinstance(read, (bytes, bytearray, memoryview)):
            raise TypeError("the file must be opened in binary mode")
        if len(read) > capacity:
            raise ValueError("the file returned more bytes than were asked for")
        ffi.memmove(data, read, len(read))
        return len(read)
    except BaseException as raised:
        callback.raised = raised
        return -1


class SlowOperation(NamedTuple):
    """An operation that took as long as ``slow_operation_ms``, or any with ``log_all``; or a warning, ``validation``: a
    document that was saved though it violates the validator of its collection, whose level is ``warn``. Its ``query`` is
    ``{"_id": ...}``, its ``hints`` are ``{"path": ..., "rule": ..., "message": ...}``."""

    kind: str
    """``get``, ``find``, ``count``, ``explain``, ``distinct``, ``aggregate``, ``save``, ``update``, ``remove``,
    ``index_create``, ``commit``, ``find_and_modify``, ``begin`` or ``validation``"""
    status: str
    """The name of its status, such as ``OK``."""
    seconds: float
    """How long it took, waiting for the write lock included."""
    collection: Optional[str]
    query: Optional[Dict[str, Any]]
    hints: Optional[Dict[str, Any]]


_KINDS = [
    "", "get", "find", "count", "explain", "distinct", "aggregate", "save", "update", "remove", "index_create", "commit",
    "find_and_modify", "begin", "validation",
]  # fmt: skip


@ffi.def_extern()  # type: ignore[untyped-decorator,unused-ignore]
def python_log(pointer: Any, event: Any) -> None:
    function = _target(pointer)
    if function is None:
        return

    def decoded(given: Any) -> Optional[Dict[str, Any]]:
        if given.data == NULL:
            return None
        try:
            return bson.decode(ffi.buffer(given.data, given.size)[:], DEFAULT_CODEC)
        except bson.errors.InvalidBSON:
            return None

    function(
        SlowOperation(
            kind=_KINDS[event.kind] if event.kind < len(_KINDS) else str(event.kind),
            status=ffi.string(lib.tansu_status_name(event.status)).decode(),
            seconds=event.nanoseconds / 1e9,
            collection=None if event.collection == NULL else ffi.string(event.collection).decode("utf-8", "replace"),
            query=decoded(event.query),
            hints=decoded(event.hints),
        )
    )
