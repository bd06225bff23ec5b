"""Changes of a database, as its commits make them."""

import time
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional

import bson

from . import _engine
from ._native import ffi, lib
from .cursor import Results

if TYPE_CHECKING:
    from .database import Database

_NOW = (1 << 64) - 1
_SLICE_MS = 100  # between two looks at the signals that Python got
_KINDS = [
    "", "insert", "update", "remove", "create_collection", "drop_collection", "rename_collection",
]  # fmt: skip


class Change(NamedTuple):
    """An event: what a commit did to one document or collection."""

    kind: str
    """``insert``, ``update``, ``remove``, ``create_collection``, ``drop_collection`` or ``rename_collection``"""
    sequence: int
    """The number of the commit; after the event with ``last`` one can resume there."""
    last: bool
    """Whether this is the last event of its commit."""
    collection: str
    new_name: Optional[str]
    """Of a collection that was renamed."""
    id: Any
    """The ``_id`` of the document."""
    before: Optional[Dict[str, Any]]
    """The document before the commit, if that was asked for and is still there."""
    after: Optional[Dict[str, Any]]
    """The document after it, if that was asked for and there is one."""


class ChangeStream(Results[Change]):
    """The changes after a commit, and then those to come, as ``Database.watch`` returns it.

    Iterating waits for changes; it ends when the stream or the database is closed. The log is its buffer: a stream that is
    not read uses no memory and misses nothing.
    """

    def __init__(
        self, database: "Database", collections: Optional[List[str]], since: Optional[int], before: bool, after: bool
    ) -> None:
        super().__init__()
        self._database = database
        options: Dict[str, Any] = {"before": bool(before), "after": bool(after)}
        if collections is not None:
            options["collections"] = collections
        encoded = bson.encode(options)
        holder = ffi.new("native_handle **")
        start = _NOW if since is None else _engine.whole(since, "since")
        _engine.run(lib.native_feed_open, database._handle, start, encoded, len(encoded), holder)
        self._handle = ffi.gc(holder[0], lib.native_handle_free)

    def __next__(self) -> Change:
        while not self._closed and not self._database.closed:
            change = self.try_next(_SLICE_MS / 1000)
            if change is not None:
                return change
        self._closed = True
        raise StopIteration

    def try_next(self, timeout: float = 0.0) -> Optional[Change]:
        """The next change, or ``None`` if there is none within some seconds."""
        end = time.monotonic() + timeout
        while True:
            left = max(0, end - time.monotonic())
            found = self._step(min(_SLICE_MS, round(left * 1000)))
            if found is not None or left <= 0 or self._closed or self._database.closed:
                return found

    def _step(self, timeout_ms: int) -> Optional[Change]:
        call = _engine.take()
        change = ffi.new("native_change *")
        status = lib.native_feed_next(self._handle, timeout_ms, change, call)
        if status > 1:
            raise _engine.failure(status, call)
        data = _engine.result(call)
        return self._decoded(change, data) if status == 0 else None

    def _decoded(self, change: Any, data: bytes) -> Change:
        parts = []
        for size in (change.collection, change.new_name, change.id, change.before, change.after):
            parts.append(data[:size])
            data = data[size:]
        codec = self._database._codec
        identifier, before, after = (bson.decode(part, codec) if part else None for part in parts[2:])
        return Change(
            kind=_KINDS[change.kind] if change.kind < len(_KINDS) else str(change.kind),
            sequence=change.sequence,
            last=bool(change.last),
            collection=parts[0].decode(),
            new_name=parts[1].decode() or None,
            id=None if identifier is None else identifier["_id"],
            before=before,
            after=after,
        )

    def cancel(self) -> None:
        """Cancels the stream, from any thread: the call that waits, and later ones, raise Cancelled."""
        lib.native_handle_cancel(self._handle)

    def close(self) -> None:
        """Ends the stream."""
        super().close()
        lib.native_handle_close(self._handle)
