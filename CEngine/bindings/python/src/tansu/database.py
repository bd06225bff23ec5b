"""Databases."""

import builtins
import os
from typing import Any, BinaryIO, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import bson
from bson.codec_options import CodecOptions

from . import _engine, errors
from ._engine import NULL, Progress, SlowOperation
from ._native import ffi, lib
from .changes import ChangeStream
from .collection import Collection
from .cursor import Results
from .transaction import DURABILITIES, Transaction, innermost

Path = Union[str, "os.PathLike[str]"]

_CHOICES: Dict[str, Dict[Any, int]] = {
    "store": {"persistent": 0, "temporary": 1, "memory": 2},
    "durability": {name: number for name, number in DURABILITIES.items() if name},
    "read_mode": {"guarded": 0, "unguarded": 1},
}
_KEYS = ("key", "passphrase")
_FLAGS = ("read_only", "must_exist", "allow_writer", "follow", "log_all")


def _key(key: Optional[bytes], passphrase: Union[str, bytes, None]) -> Tuple[Any, int, int]:
    """The bytes of a key, how many there are, and the engine's kind of it."""
    if (key is None) == (passphrase is None):
        raise errors.InvalidArgument("Give either a key or a passphrase", "key")
    secret = passphrase.encode() if isinstance(passphrase, str) else passphrase if key is None else key
    if not isinstance(secret, (bytes, bytearray)):
        raise TypeError(f"A key must be bytes, not {type(secret).__name__}")
    return ffi.new("char[]", bytes(secret)), len(secret), int(key is None)


def _options(path: Optional[Path], given: Mapping[str, Any]) -> Tuple[Any, Any]:
    """The engine's options, and what has to live as long as they do."""
    options = ffi.new("tansu_options *")
    lib.tansu_options_init(options)
    kept = [NULL if path is None else ffi.new("char[]", _engine.path(path))]
    options.path = kept[0]
    key, passphrase = given.get("key"), given.get("passphrase")
    if key is not None or passphrase is not None:
        secret, options.key_size, options.key_kind = _key(key, passphrase)
        options.key = secret
        kept.append(secret)
    for name, value in given.items():
        if value is None or name in _KEYS:
            continue
        if name in _CHOICES:
            if value not in _CHOICES[name]:
                allowed = ", ".join(map(repr, _CHOICES[name]))
                raise errors.InvalidArgument(f"{name} must be one of {allowed}", name)
            setattr(options, name, _CHOICES[name][value])
        elif name in _FLAGS:
            setattr(options, name, int(bool(value)))
        else:
            try:
                setattr(options, name, _engine.whole(value, name))
            except OverflowError:
                raise errors.InvalidArgument(f"{name} is out of range", name) from None
    return options, kept


def open(
    path: Optional[Path] = None,
    *,
    store: Optional[str] = None,
    read_only: bool = False,
    must_exist: bool = False,
    key: Optional[bytes] = None,
    passphrase: Union[str, bytes, None] = None,
    key_iterations: Optional[int] = None,
    durability: str = "full",
    interval_ms: Optional[int] = None,
    busy_timeout_ms: Optional[int] = None,
    lock_timeout_ms: Optional[int] = None,
    allow_writer: bool = False,
    follow: bool = False,
    read_mode: Optional[str] = None,
    segment_size: Optional[int] = None,
    checkpoint_bytes: Optional[int] = None,
    index_cache_bytes: Optional[int] = None,
    block_cache_bytes: Optional[int] = None,
    compaction_percent: Optional[int] = None,
    compaction_share: Optional[int] = None,
    sort_memory_bytes: Optional[int] = None,
    group_memory_bytes: Optional[int] = None,
    transaction_memory_bytes: Optional[int] = None,
    max_pinned_bytes: Optional[int] = None,
    slow_operation_ms: Optional[int] = None,
    log_all: bool = False,
    log: Optional[Callable[[SlowOperation], object]] = None,
    progress: Optional[Progress] = None,
    codec_options: "Optional[CodecOptions[Any]]" = None,
) -> "Database":
    """Opens a database, and creates it if there is none.

    The options are those of ``tansu_options`` in tansu.h, which describes them in full; ``None`` is the engine's default.

    :param path: the folder; without one the database lies in memory
    :param store: ``"persistent"``, ``"temporary"`` (a new folder in ``path`` that is removed on closing) or ``"memory"``
    :param read_only: never writes, and keeps writers out
    :param must_exist: raises NotFound instead of creating a database
    :param key: the 32 bytes that an encrypted database was created with; a new one is encrypted with them. Without the key
        opening raises Encrypted, with another one WrongKey
    :param passphrase: the same, as text; of a new database it is hashed ``key_iterations`` times, 256000 by default
    :param durability: what a commit survives when the call has returned: ``"full"`` power loss, ``"process"`` the death of the
        process, ``"interval"`` power loss after ``interval_ms``
    :param busy_timeout_ms: how long a write waits for the write lock; 60000 by default
    :param lock_timeout_ms: how long to wait while another process has the database open
    :param allow_writer: reads while another process writes; ``refresh()`` shows newer commits, and with ``follow`` every read
    :param transaction_memory_bytes: what a write transaction may keep in memory; no limit by default
    :param slow_operation_ms: operations that take as long are passed to ``log``; with ``log_all`` all are
    :param log: is called after an operation, on its thread, and with warnings about documents that violate a validator
    :param progress: of recovery, in bytes of the log
    :param codec_options: how documents are decoded, as in pymongo
    """
    given = dict(
        store=store or ("memory" if path is None else None), read_only=read_only, must_exist=must_exist,
        key=key, passphrase=passphrase, key_iterations=key_iterations,
        durability=durability, interval_ms=interval_ms, busy_timeout_ms=busy_timeout_ms, lock_timeout_ms=lock_timeout_ms,
        allow_writer=allow_writer, follow=follow, read_mode=read_mode, segment_size=segment_size,
        checkpoint_bytes=checkpoint_bytes, index_cache_bytes=index_cache_bytes, block_cache_bytes=block_cache_bytes,
        compaction_percent=compaction_percent, compaction_share=compaction_share, sort_memory_bytes=sort_memory_bytes,
        group_memory_bytes=group_memory_bytes, transaction_memory_bytes=transaction_memory_bytes,
        max_pinned_bytes=max_pinned_bytes, slow_operation_ms=slow_operation_ms, log_all=log_all,
    )  # fmt: skip
    options, kept = _options(path, given)
    number = None
    if log is not None:
        if not callable(log):
            raise TypeError("log must be callable")
        number, options.log_context = _engine.context(log)
        options.log = lib.python_log
    holder = ffi.new("native_db **")
    try:
        _engine.give(_engine.with_callbacks(lib.native_open, (options, holder), progress))
    except BaseException:
        if number is not None:
            _engine.forget(number)
        raise
    return Database(holder[0], codec_options or _engine.DEFAULT_CODEC, number)


class Database:
    """An open database, as ``tansu.open`` returns it.

    ``db["people"]`` and ``db.people`` are its collections. It may be used by any number of threads at once, and is a context
    manager that closes it. In a process that was forked, a call raises InvalidState; open it again there.
    """

    def __init__(self, pointer: Any, codec: "CodecOptions[Any]", log: Optional[int]) -> None:
        def free(pointer: Any) -> None:
            lib.native_db_free(pointer)
            if log is not None:
                _engine.forget(log)

        self._handle = ffi.gc(pointer, lib.native_db_free if log is None else free)
        self._codec = codec

    # ---- Collections ----

    def __getitem__(self, name: str) -> Collection:
        return Collection(self, name)

    def __getattr__(self, name: str) -> Collection:
        if name.startswith("_"):
            raise AttributeError(f"Database has no attribute {name!r}; that collection is db[{name!r}]")
        return Collection(self, name)

    def get_collection(self, name: str, codec_options: "Optional[CodecOptions[Any]]" = None) -> Collection:
        """A collection, with its own options of the codec."""
        return Collection(self, name, codec_options)

    def create_collection(
        self,
        name: str,
        *,
        validator: Union[Mapping[str, Any], bool, None] = None,
        validation_level: Optional[str] = None,
        validation_action: Optional[str] = None,
        references: Optional[Sequence[Mapping[str, Any]]] = None,
        timestamps: Union[Mapping[str, str], bool, None] = None,
        compression: Optional[str] = None,
        change_tracking: Union[str, bool, None] = None,
        local: Optional[bool] = None,
    ) -> Collection:
        """Creates a collection, or changes the options of one that exists; ``None`` leaves an option as it is.

        :param validator: a query or a JSON schema that every document satisfies; ``False`` for none
        :param validation_level: what becomes of a document that does not: ``"strict"``, ``"moderate"``, ``"warn"`` or ``"off"``
        :param validation_action: ``"error"``, or ``"warn"`` for that level
        :param references: paths of ``_id``s of other collections: ``[{"path": ..., "to": ..., "onDelete": ...}]``
        :param timestamps: fields with the dates of insertion and last save: ``{"created": ..., "updated": ...}``, or ``True``
        :param compression: ``"lz4"`` or ``"none"``
        :param change_tracking: the collection that gets the ``_id``s of changed documents, or ``False``
        :param local: such a collection is never replicated
        """
        given = dict(
            validator=validator, validationLevel=validation_level, validationAction=validation_action, references=references,
            timestamps=timestamps, compression=compression, changeTracking=change_tracking, local=local,
        )  # fmt: skip
        options = bson.encode({key: value for key, value in given.items() if value is not None}, False, self._codec)
        collection = Collection(self, name)
        collection._call(lib.native_collection_ensure, options, len(options))
        return collection

    def drop_collection(self, name_or_collection: Union[str, Collection]) -> None:
        """Drops a collection. Raises NotFound."""
        named = name_or_collection
        (named if isinstance(named, Collection) else Collection(self, named)).drop()

    def list_collections(self) -> "Results[Dict[str, Any]]":
        """The collections: ``name``, ``documents`` (how many) and ``options``."""
        return Results(self._report(lib.native_collection_list)["collections"])

    def list_collection_names(self) -> List[str]:
        """The names of the collections, in their order."""
        return [collection["name"] for collection in self.list_collections()]

    def referrers(self, name: str) -> List[Dict[str, Any]]:
        """The collections with references to a collection, which need not exist."""
        return list(self._report(lib.native_collection_referrers, _engine.name(name))["collections"])

    def dangling_references(
        self, collection: Optional[str] = None, *, limit: Optional[int] = None, repair: bool = False
    ) -> Dict[str, Any]:
        """References that lead to no document; with ``repair`` their delete rules are applied."""
        options: Dict[str, Any] = {"repair": bool(repair)}
        if collection is not None:
            options["collection"] = collection
        if limit is not None:
            options["limit"] = limit
        encoded = bson.encode(options)
        return self._report(lib.native_dangling_references, encoded, len(encoded))

    # ---- Transactions ----

    def transaction(self, *, durability: Optional[str] = None) -> Transaction:
        """A write transaction for a ``with`` block: the calls of the block, with any collections, are one commit. Within
        another one it is a savepoint.

        :param durability: of this commit; by default that of the database
        """
        return Transaction(self, True, durability)

    def snapshot(self) -> Transaction:
        """A snapshot for a ``with`` block, whose reads see one state of all collections, whatever others commit. Within a
        transaction it sees that."""
        return Transaction(self, False, None)

    def _transaction_handle(self) -> Any:
        found = innermost(self)
        return NULL if found is None else found._handle

    # ---- Changes ----

    def watch(
        self,
        collections: Optional[Sequence[str]] = None,
        *,
        since: Optional[int] = None,
        before: bool = False,
        after: bool = True,
    ) -> ChangeStream:
        """The changes of all collections, or of some, from now on, or after a commit.

        :param since: the number of a commit; 0: everything that exists, and then what follows. Raises NotFound if removals
            after it may be missing because of a compaction
        :param before: whether events have the document before the commit
        :param after: whether events have the document after it
        """
        return ChangeStream(self, _engine.names(collections, "collections"), since, before, after)

    # ---- Maintenance ----

    def stats(self) -> Dict[str, Any]:
        """Statistics; tansu.h (``tansu_stats``) describes them."""
        return _engine.report(lib.native_stats, self._handle)

    def sync(self) -> None:
        """Makes every commit so far survive power loss."""
        _engine.run(lib.native_sync, self._handle)

    def checkpoint(self) -> None:
        """Writes the index file, so that the next opening has nothing to replay."""
        _engine.run(lib.native_checkpoint, self._handle)

    def rekey(
        self, *, key: Optional[bytes] = None, passphrase: Union[str, bytes, None] = None, key_iterations: Optional[int] = None
    ) -> None:
        """Replaces the key of an encrypted database, while others read and write. It opens with the new key only, then; the
        parameters are those of ``tansu.open``. Raises InvalidState if the database is not encrypted."""
        secret, size, kind = _key(key, passphrase)
        count = _engine.whole(key_iterations or 0, "key_iterations")
        if count >= 1 << 32:
            raise errors.InvalidArgument("key_iterations is out of range", "key_iterations")
        _engine.run(lib.native_rekey, self._handle, secret, size, kind, count)

    def refresh(self) -> Tuple[bool, int]:
        """With ``allow_writer``, goes to the newest commit. Returns whether there was a newer one, and its number."""
        call = _engine.perform(lib.native_refresh, self._handle)
        found = bool(call.number), int(call.sequence)
        _engine.give(call)
        return found

    def compact(self, progress: Optional[Progress] = None) -> Dict[str, Any]:
        """Reclaims the space of removed and replaced documents, while others read and write."""
        return self._long(lib.native_compact, (), progress)

    def expire(self) -> int:
        """Removes the documents that have expired by indexes with ``expireAfterSeconds``, and returns how many. This also happens by
        itself within a minute."""
        call = _engine.perform(lib.native_expire, self._handle)
        removed = int(call.number)
        _engine.give(call)
        return removed

    def verify(self, progress: Optional[Progress] = None) -> Dict[str, Any]:
        """Verifies everything that is stored, and returns a report. Raises Corrupt at the first problem."""
        return self._long(lib.native_verify, (), progress)

    def backup(self, to: Path, *, form: str = "folder", progress: Optional[Progress] = None) -> Dict[str, Any]:
        """Copies one state of the database, while others read and write, to a new folder that can be opened, or with
        ``form="file"`` to one compressed file for ``tansu.restore``. Raises Exists."""
        if form not in ("folder", "file"):
            raise errors.InvalidArgument('form must be "folder" or "file"', "form")
        return self._long(lib.native_backup, (_engine.path(to), int(form == "file")), progress)

    def clone(self, path: Optional[Path] = None, *, progress: Optional[Progress] = None, **options: Any) -> "Database":
        """Copies everything into a new database, and opens that; the options are those of ``tansu.open``."""
        store = options.pop("store", None) or ("memory" if path is None else None)
        unknown = set(options) - set(_CHOICES) - set(_FLAGS) - set(_KEYS) - set(dir(ffi.new("tansu_options *")))
        if unknown:
            raise TypeError(f"clone() got an unexpected keyword argument {sorted(unknown)[0]!r}")
        target, kept = _options(path, {"store": store, **options})
        holder = ffi.new("native_db **")
        _engine.give(_engine.with_callbacks(lib.native_clone, (self._handle, target, holder), progress))
        return Database(holder[0], self._codec, None)

    def dump(
        self,
        to: Union[Path, BinaryIO],
        *,
        collections: Optional[Sequence[str]] = None,
        query: Optional[Mapping[str, Any]] = None,
        indexes: bool = True,
        progress: Optional[Progress] = None,
    ) -> Dict[str, Any]:
        """Writes collections as newline-delimited extended JSON, to a path or a file that is open for binary writing."""
        options: Dict[str, Any] = {"indexes": bool(indexes)}
        if collections is not None:
            options["collections"] = _engine.names(collections, "collections")
        if query is not None:
            options["query"] = query
        encoded = bson.encode(options, False, self._codec)

        def write(file: BinaryIO) -> Dict[str, Any]:
            arguments = (self._handle, self._transaction_handle(), ..., encoded, len(encoded))
            call = _engine.with_callbacks(lib.native_dump, arguments, progress, lambda data: _engine.write(file, data))
            return bson.decode(_engine.result(call), _engine.DEFAULT_CODEC)

        if not isinstance(to, (str, os.PathLike)):
            return write(to)
        with builtins.open(to, "xb") as file:
            return write(file)

    def load(
        self,
        source: Union[Path, BinaryIO],
        *,
        collection: Optional[str] = None,
        mode: str = "insert",
        atomic: bool = False,
        keep_timestamps: bool = False,
        progress: Optional[Progress] = None,
    ) -> Dict[str, Any]:
        """Loads what ``dump`` wrote, or newline-delimited JSON documents into ``collection``, from a path or a file that is
        open for binary reading.

        :param mode: what happens with a document whose ``_id`` is taken: ``"insert"`` raises Exists, ``"save"`` replaces,
            ``"skip"`` leaves it out
        :param atomic: everything in one commit
        """
        options: Dict[str, Any] = {"mode": mode, "atomic": bool(atomic), "keepTimestamps": bool(keep_timestamps)}
        if collection is not None:
            options["collection"] = collection
        encoded = bson.encode(options)

        def read(file: BinaryIO) -> Dict[str, Any]:
            arguments = (self._handle, ..., encoded, len(encoded))
            call = _engine.with_callbacks(lib.native_load, arguments, progress, file.read)
            return bson.decode(_engine.result(call), _engine.DEFAULT_CODEC)

        if not isinstance(source, (str, os.PathLike)):
            return read(source)
        with builtins.open(source, "rb") as file:
            return read(file)

    def command_json(self, request: str) -> str:
        """Runs a JSON command (docs/json-commands.md) and returns the response, which also tells errors."""
        call = _engine.perform(lib.native_execute_json, self._handle, _engine.text(request, "request"))
        return _engine.result(call).decode("utf-8")

    # ---- Closing ----

    @property
    def closed(self) -> bool:
        """Whether the database was closed."""
        return bool(lib.native_closed(self._handle))

    def close(self) -> None:
        """Waits for the calls of other threads, ends cursors, transactions and change streams, and closes the database.
        Closing it again does nothing."""
        while True:
            call = _engine.take()
            status = lib.native_close(self._handle, call)
            if status > 1:
                raise _engine.failure(status, call)
            _engine.give(call)
            if status == 0:
                return

    def __enter__(self) -> "Database":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return "<tansu.Database, closed>"
        try:
            return f"<tansu.Database {self.stats().get('path') or 'in memory'!r}>"
        except errors.Error:
            return "<tansu.Database>"

    # ---- Calls ----

    def _report(self, function: Any, *arguments: Any) -> Dict[str, Any]:
        return _engine.report(function, self._handle, self._transaction_handle(), *arguments)

    def _long(self, function: Any, arguments: Tuple[Any, ...], progress: Optional[Progress]) -> Dict[str, Any]:
        call = _engine.with_callbacks(function, (self._handle, *arguments), progress)
        return bson.decode(_engine.result(call), _engine.DEFAULT_CODEC)


def restore(source: Path, to: Path, progress: Optional[Progress] = None) -> Dict[str, Any]:
    """Creates a database at ``to`` from a backup of either form, and verifies it first."""
    return _copied(lib.native_restore, source, to, progress)


def repair(source: Path, to: Path, progress: Optional[Progress] = None) -> Dict[str, Any]:
    """Salvages a corrupt database: copies what is readable in ``source`` to a new database at ``to``, and reports."""
    return _copied(lib.native_repair, source, to, progress)


def _copied(function: Any, source: Path, to: Path, progress: Optional[Progress]) -> Dict[str, Any]:
    call = _engine.with_callbacks(function, (_engine.path(source), _engine.path(to)), progress)
    return bson.decode(_engine.result(call), _engine.DEFAULT_CODEC)
