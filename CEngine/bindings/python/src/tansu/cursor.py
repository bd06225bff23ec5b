"""Results that are read one by one."""

import operator
import threading
from typing import TYPE_CHECKING, Any, Dict, Generic, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union

import bson

from . import _engine, errors
from ._native import ffi, lib

if TYPE_CHECKING:
    from .collection import Collection

T = TypeVar("T")
Direction = int
Keys = Union[str, Sequence[Union[str, Tuple[str, Direction]]], Mapping[str, Direction]]
"""Paths with directions: ``"a"``, ``[("a", 1), ("b", -1)]`` or ``{"a": 1}``."""
Projection = Union[Mapping[str, Any], Iterable[str]]
Hint = Union[str, bool, Keys]
"""The name of an index, or its keys; ``False`` for none."""
Collation = Union[str, Mapping[str, bool]]
"""``"caseInsensitive"``, ``"numeric"``, ``"binary"`` or ``{"caseInsensitive": True, "numeric": True}``."""

FIRST_BATCH = 64
LARGEST_BATCH = 4096
BATCH_BYTES = 1 << 18


def keys_document(keys: Keys, direction: Direction = 1) -> Dict[str, Any]:
    """Paths with directions, as the engine takes them."""
    if isinstance(keys, str):
        return {keys: direction}
    if isinstance(keys, Mapping):
        return dict(keys)
    try:
        pairs: List[Any] = [(item, direction) if isinstance(item, str) else item for item in keys]
        found: Dict[str, Any] = dict(pairs)
    except (TypeError, ValueError):
        raise TypeError("keys must be a str, a mapping, or a list of str and (str, direction) pairs") from None
    if len(found) < len(pairs):
        raise errors.InvalidArgument("A path is there twice; name each once", "keys")
    return found


def index_name(keys: Mapping[str, Any]) -> str:
    """The name that an index of these keys has by default."""
    return "_".join(f"{path}_{direction}" for path, direction in keys.items())


def hints_document(
    sort: Optional[Keys] = None,
    skip: int = 0,
    limit: int = 0,
    projection: Optional[Projection] = None,
    hint: Optional[Hint] = None,
    collation: Optional[Collation] = None,
    max_time_ms: Optional[int] = None,
    allow_disk_use: Optional[bool] = None,
    max_memory: Optional[int] = None,
    join: Optional[Mapping[str, Any]] = None,
) -> Dict[str, Any]:
    """The engine's hints. Those that are left out are not in it."""
    hints: Dict[str, Any] = {}
    if sort:
        hints["$orderby"] = keys_document(sort)
    if skip:
        hints["$skip"] = _engine.whole(skip, "skip")
    if limit:
        hints["$max"] = abs(_engine.whole(limit, "limit", -(1 << 62)))
    if projection is not None:
        hints["$fields"] = _projection_document(projection)
    if hint is not None:
        hints["$index"] = hint if isinstance(hint, (str, bool)) else index_name(keys_document(hint))
    if collation is not None:
        hints["$collation"] = collation
    if max_time_ms is not None:
        hints["$maxTimeMS"] = _engine.whole(max_time_ms, "max_time_ms")
    if allow_disk_use is not None:
        hints["$allowDiskUse"] = bool(allow_disk_use)
    if max_memory is not None:
        hints["$maxMemory"] = _engine.whole(max_memory, "max_memory")
    if join is not None:
        hints["$do"] = join
    return hints


def _projection_document(projection: Projection) -> Mapping[str, Any]:
    if isinstance(projection, Mapping):
        return projection
    if isinstance(projection, str):
        raise TypeError("projection must be a mapping or a list of paths, not str")
    return {path: 1 for path in projection} or {"_id": 1}


class Results(Generic[T]):
    """An iterator over results, which is also a context manager that closes it."""

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._batch: Iterator[T] = iter(items)
        self._closed = False

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        while True:
            batch = self._batch
            for item in batch:
                return item
            if not self._refill(batch):
                raise StopIteration

    def next(self) -> T:
        """The next result. Raises ``StopIteration`` when there is none."""
        return self.__next__()

    def to_list(self, length: Optional[int] = None) -> List[T]:
        """The results that are left, or the next ``length`` of them."""
        if length is not None and _engine.whole(length, "length", -1) < 1:
            raise ValueError("length must be at least 1")
        found: List[T] = []
        for item in self:
            found.append(item)
            if len(found) == length:
                break
        return found

    @property
    def alive(self) -> bool:
        """Whether there may be more results."""
        return not self._closed or operator.length_hint(self._batch) > 0

    def close(self) -> None:
        """Ends it, and releases its snapshot."""
        self._closed = True
        self._batch = iter(())

    def _refill(self, read: Iterator[T]) -> bool:
        """Has more results after a batch that was read; false when there are none."""
        self._closed = True
        return False

    def __enter__(self: "ResultsType") -> "ResultsType":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


ResultsType = TypeVar("ResultsType", bound=Results[Any])


class CommandCursor(Results[Dict[str, Any]]):
    """The documents that the engine finds or makes, as ``Collection.aggregate`` returns it.

    All documents are of the snapshot of its beginning, whatever is written later. A cursor that was read to its end, or
    collected as garbage, is closed; until then it keeps its snapshot on the disk.
    """

    _open = staticmethod(lib.native_pipeline)

    def __init__(
        self, collection: "Collection", query: bytes, hints: Dict[str, Any], batch_size: int = 0
    ) -> None:
        super().__init__()
        self._collection = collection
        self._query = query
        self._hints = hints
        self._batch_size = _engine.whole(batch_size, "batch_size")
        self._transaction = collection._database._transaction_handle()
        self._handle: Any = None
        self._started = False
        self._reading = threading.Lock()

    @property
    def collection(self) -> "Collection":
        """The collection that the cursor reads."""
        return self._collection

    def cancel(self) -> None:
        """Cancels the cursor, from any thread: the call that reads from it, and later ones, raise Cancelled."""
        handle = self._handle
        if handle is not None:
            lib.native_handle_cancel(handle)

    def close(self) -> None:
        """Closes the cursor, and releases its snapshot."""
        super().close()
        handle, self._handle = self._handle, None
        if handle is not None:
            lib.native_handle_close(handle)

    def _start(self) -> Any:
        collection = self._collection
        hints = bson.encode(self._hints, False, collection._codec) if self._hints else _engine.EMPTY
        self._started = True
        self._size = self._batch_size or FIRST_BATCH
        holder = ffi.new("native_handle **")
        _engine.run(
            self._open, collection._database._handle, self._transaction, collection._name, self._query,
            len(self._query), hints, len(hints), holder,
        )  # fmt: skip
        handle = self._handle = ffi.gc(holder[0], lib.native_handle_free)
        return handle

    def _refill(self, read: Iterator[Dict[str, Any]]) -> bool:
        if not self._reading.acquire(blocking=False):
            raise errors.InvalidState("Another call reads from the cursor; a cursor is used by one call at a time")
        try:
            # Another thread may have read on since.
            return self._batch is not read or self._read_batch()
        finally:
            self._reading.release()

    def _read_batch(self) -> bool:
        if self._closed:
            return False
        handle = self._handle
        if handle is None:
            handle = self._start()
        call = _engine.take()
        status = lib.native_next(handle, self._size, BATCH_BYTES, call)
        if status > 1:
            raise _engine.failure(status, call)
        data = ffi.unpack(call.data, call.size) if call.size else b""
        _engine.give(call)
        if status == 1:
            self.close()
        elif not self._batch_size:
            self._size = min(4 * self._size, LARGEST_BATCH)
        if not data:
            return False
        self._batch = iter(bson.decode_all(data, self._collection._codec))
        return True


class Cursor(CommandCursor):
    """The documents that match a query, as ``Collection.find`` returns it.

    The query runs when the first document is asked for. Options can be set until then, and each method returns the cursor.
    """

    _open = staticmethod(lib.native_find)

    def _set(self, key: str, value: Any) -> "Cursor":
        if self._started:
            raise errors.InvalidState("The options of a cursor are set before its first document is read")
        self._hints[key] = value
        return self

    def sort(self, key_or_list: Keys, direction: Direction = 1) -> "Cursor":
        """Sorts by paths, 1 ascending and -1 descending. Documents with equal keys stay in insertion order."""
        return self._set("$orderby", keys_document(key_or_list, direction))

    def skip(self, skip: int) -> "Cursor":
        """Leaves out that many documents at the beginning."""
        return self._set("$skip", _engine.whole(skip, "skip"))

    def limit(self, limit: int) -> "Cursor":
        """Returns at most that many documents; 0 is no limit."""
        return self._set("$max", abs(_engine.whole(limit, "limit", -(1 << 62))))

    def hint(self, index: Hint) -> "Cursor":
        """The index to use; ``False`` for none."""
        return self._set("$index", hints_document(hint=index)["$index"])

    def collation(self, collation: Collation) -> "Cursor":
        """How strings are compared."""
        return self._set("$collation", collation)

    def max_time_ms(self, max_time_ms: int) -> "Cursor":
        """Raises Timeout after that many milliseconds."""
        return self._set("$maxTimeMS", _engine.whole(max_time_ms, "max_time_ms"))

    def allow_disk_use(self, allow_disk_use: bool) -> "Cursor":
        """``False``: raises TooLarge instead of sorting in temporary files."""
        return self._set("$allowDiskUse", bool(allow_disk_use))

    def batch_size(self, batch_size: int) -> "Cursor":
        """How many documents are fetched at once; 0, the default: more with each batch, up to about 256 KiB."""
        if self._started:
            raise errors.InvalidState("The options of a cursor are set before its first document is read")
        self._batch_size = _engine.whole(batch_size, "batch_size")
        return self

    def clone(self) -> "Cursor":
        """A cursor of the same query that was not started."""
        return Cursor(self._collection, self._query, dict(self._hints), self._batch_size)

    def rewind(self) -> "Cursor":
        """Closes the cursor, so that the query runs again."""
        self.close()
        self._closed = self._started = False
        return self

    def explain(self) -> Dict[str, Any]:
        """Runs the query, and returns how: the plans, their costs, and what was examined."""
        return self._collection._explain(self._query, self._hints)

    def distinct(self, key: str) -> List[Any]:
        """The distinct values of a path in the documents of the cursor."""
        return self._collection._distinct(key, self._query, self._hints)
