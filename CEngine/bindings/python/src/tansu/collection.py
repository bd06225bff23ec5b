"""Collections of documents."""

import struct
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, MutableMapping, Optional, Sequence, TypedDict, Union

import bson
from bson.codec_options import CodecOptions
from bson.int64 import Int64
from bson.objectid import ObjectId
from bson.raw_bson import RawBSONDocument

from . import _engine, errors
from ._engine import EMPTY, NULL, Progress
from ._native import ffi, lib
from .cursor import (
    Collation, CommandCursor, Cursor, Hint, Keys, Projection, Results, hints_document, index_name, keys_document,
)  # fmt: skip
from .results import DeleteResult, InsertManyResult, InsertOneResult, UpdateResult

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .changes import ChangeStream
    from .database import Database

Filter = Mapping[str, Any]
Document = Dict[str, Any]
Update = Union[Mapping[str, Any], Sequence[Mapping[str, Any]]]
"""Update operators, or the stages of a pipeline."""

_SAVE, _INSERT, _REPLACE = 0, 1, 2
_MANY = 10000  # ids of one call
_NOT_FOUND = errors.NotFound.code
_PLAIN_IDS = frozenset({int, str, ObjectId, Int64, float, bytes})
"""Types of values that a query compares with as a whole."""
_pack_int_id = struct.Struct("<i5sqB").pack
_pack_text_id = struct.Struct("<i5si").pack
_encode, _decode = bson.encode, bson.decode
_ONE = _encode({"$max": 1})
_UPSERT_ONE = _encode({"$max": 1, "$upsert": True})
_UPSERT = _encode({"$upsert": True})
_unpack = ffi.unpack
_native_get = lib.native_get


class FindOptions(TypedDict, total=False):
    """The options of ``find`` that ``find_one`` and ``explain`` have, too."""

    skip: int
    sort: Optional[Keys]
    hint: Optional[Hint]
    collation: Optional[Collation]
    max_time_ms: Optional[int]
    allow_disk_use: Optional[bool]
    max_memory: Optional[int]
    join: Optional[Mapping[str, Any]]


class ReturnDocument:
    """Which document ``find_one_and_update`` and ``find_one_and_replace`` return."""

    BEFORE = False
    AFTER = True


def _returned(document: bool) -> int:
    if not isinstance(document, bool):
        raise TypeError("return_document must be ReturnDocument.BEFORE or ReturnDocument.AFTER")
    return int(document)


class Collection:
    """A named collection of documents, as ``db["name"]`` or ``db.name`` returns it.

    It need not exist: reading one that does not returns no documents, and saving creates it. Within
    ``with db.transaction():`` of the same thread or task all calls are part of the transaction. A Collection may be used by
    any number of threads.
    """

    def __init__(self, database: "Database", name: str, codec_options: "Optional[CodecOptions[Any]]" = None) -> None:
        self._database = database
        self._name = _engine.name(name)
        self._codec: "CodecOptions[Any]" = codec_options or database._codec

    @property
    def name(self) -> str:
        """The name of the collection."""
        return self._name.decode()

    @property
    def database(self) -> "Database":
        """The database of the collection."""
        return self._database

    def with_options(self, codec_options: "CodecOptions[Any]") -> "Collection":
        """The collection with other options of the codec: the class of documents, time zones, UUIDs, types of one's own."""
        return Collection(self._database, self.name, codec_options)

    def __repr__(self) -> str:
        return f"Collection({self._database!r}, {self.name!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Collection):
            return NotImplemented
        return self._database is other._database and self._name == other._name

    def __hash__(self) -> int:
        return hash((id(self._database), self._name))

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        raise TypeError(f"'Database' has no method {self.name!r}: that is a collection, which cannot be called")

    # ---- Insert ----

    def insert_one(self, document: MutableMapping[str, Any]) -> InsertOneResult:
        """Inserts a document, which gets an ``_id`` if it has none. Raises Exists if its ``_id`` is taken."""
        return self._save_one(document, _INSERT)

    def save(self, document: MutableMapping[str, Any]) -> InsertOneResult:
        """Inserts a document, or replaces the one with the same ``_id``."""
        return self._save_one(document, _SAVE)

    def insert_many(self, documents: Iterable[MutableMapping[str, Any]]) -> InsertManyResult:
        """Inserts documents in one commit: all of them, or after an error, whose ``offset`` is the index of the document at
        fault, none."""
        return self._save_many(documents, _INSERT)

    def save_many(self, documents: Iterable[MutableMapping[str, Any]]) -> InsertManyResult:
        """Saves documents in one commit, as ``save`` does."""
        return self._save_many(documents, _SAVE)

    def _save_one(self, document: MutableMapping[str, Any], mode: int) -> InsertOneResult:
        identifier = _give_id(document)
        data = _encode(document, False, self._codec)
        database = self._database
        call = _engine.take()
        status = lib.native_save_one(
            database._handle, database._transaction_handle(), self._name, data, len(data), mode, call
        )
        if status != 0:
            raise _engine.failure(status, call)
        _engine.give(call)
        return InsertOneResult(identifier)

    def _save_many(self, documents: Iterable[MutableMapping[str, Any]], mode: int) -> InsertManyResult:
        if isinstance(documents, Mapping):
            raise TypeError("documents must be an iterable of documents, not a mapping")
        encode, codec = _encode, self._codec
        identifiers, encoded = [], []
        for document in documents:
            identifiers.append(_give_id(document))
            encoded.append(encode(document, False, codec))
        if not encoded:
            raise TypeError("documents must not be empty")
        data = b"".join(encoded)
        self._call(lib.native_save_many, data, len(data), len(encoded), mode)
        return InsertManyResult(identifiers)

    # ---- Find ----

    def get(self, _id: Any) -> Optional[Document]:
        """The document with an ``_id``, whatever the type of that is, or ``None``. The fastest read."""
        key = _id_document(_id) or _encode({"_id": _id}, False, self._codec)
        database = self._database
        call = _engine.take()
        status = _native_get(database._handle, database._transaction_handle(), self._name, key, len(key), call)
        if status:
            raised = _engine.failure(status, call)
            if status == _NOT_FOUND:
                return None
            raise raised
        data = _unpack(call.data, call.size)
        _engine.give(call)
        return _decode(data, self._codec)  # type: ignore[no-any-return]

    def get_many(self, ids: Iterable[Any]) -> List[Optional[Document]]:
        """The documents with several ``_id``s, in that order and of one snapshot, with ``None`` for one that there is none
        of."""
        listed = list(ids)
        found: List[Optional[Document]] = []
        with self._database.snapshot():  # that of all calls
            while len(found) < len(listed):
                part = listed[len(found) : len(found) + _MANY]
                keys = _encode({str(i): one for i, one in enumerate(part)}, False, self._codec)
                found += self._get_part(keys, len(part))
        return found

    def _get_part(self, keys: bytes, count: int) -> List[Optional[Document]]:
        found: List[Optional[Document]] = []
        while len(found) < count:
            call = self._perform(lib.native_get_many, keys, len(keys), len(found))
            found += _decode(_engine.result(call), self._codec)["documents"]
        return found

    def find(
        self,
        filter: Optional[Filter] = None,
        projection: Optional[Projection] = None,
        *,
        skip: int = 0,
        limit: int = 0,
        sort: Optional[Keys] = None,
        hint: Optional[Hint] = None,
        collation: Optional[Collation] = None,
        max_time_ms: Optional[int] = None,
        allow_disk_use: Optional[bool] = None,
        max_memory: Optional[int] = None,
        join: Optional[Mapping[str, Any]] = None,
        batch_size: int = 0,
    ) -> Cursor:
        """The documents that match a query (docs/query-language.md); all without one.

        :param filter: the query
        :param projection: paths that are included (1), or excluded (0), or a list of paths
        :param skip: how many documents are left out at the beginning
        :param limit: how many documents are returned at most; 0: all
        :param sort: paths with 1 (ascending) or -1 (descending); without, documents are in insertion order
        :param hint: the index to use, or ``False`` for none
        :param collation: how strings are compared
        :param max_time_ms: milliseconds until Timeout is raised
        :param allow_disk_use: ``False``: TooLarge is raised instead of using temporary files
        :param max_memory: bytes of memory for a sort, at least 65536
        :param join: the engine's ``$do``: paths of ids, and the collections of which their documents take their places
        :param batch_size: how many documents are fetched at once; 0: by their size
        """
        hints = hints_document(
            sort, skip, limit, projection, hint, collation, max_time_ms, allow_disk_use, max_memory, join
        )
        return Cursor(self, _engine.document(filter, self._codec, "filter"), hints, batch_size)

    def find_one(
        self, filter: Any = None, projection: Optional[Projection] = None, **options: "Unpack[FindOptions]"
    ) -> Optional[Document]:
        """The first document that matches, or ``None``. What is no mapping is an ``_id``. Options: those of ``find``."""
        plain = projection is None and not options
        if type(filter) is not dict and not isinstance(filter, Mapping) and filter is not None:
            filter = {"_id": filter}
        if plain and type(filter) is dict:
            if len(filter) == 1 and type(filter.get("_id")) in _PLAIN_IDS:
                return self.get(filter["_id"])
            query, hints = _encode(filter, False, self._codec), _ONE
        else:
            cursor = self.find(filter, projection, limit=1, **options)
            query, hints = cursor._query, _encode(cursor._hints, False, self._codec)
        database = self._database
        call = _engine.take()
        status = lib.native_find_one(
            database._handle, database._transaction_handle(), self._name, query, len(query), hints, len(hints), call
        )
        if status > 1:
            raise _engine.failure(status, call)
        if status == 1:
            _engine.give(call)
            return None
        return _decode(_engine.result(call), self._codec)  # type: ignore[no-any-return]

    def count_documents(
        self,
        filter: Optional[Filter] = None,
        *,
        skip: int = 0,
        limit: int = 0,
        hint: Optional[Hint] = None,
        collation: Optional[Collation] = None,
        max_time_ms: Optional[int] = None,
    ) -> int:
        """How many documents match."""
        query = _engine.document(filter, self._codec, "filter")
        hints = self._hints(skip=skip, limit=limit, hint=hint, collation=collation, max_time_ms=max_time_ms)
        return self._count(query, hints)

    def _count(self, query: bytes, hints: bytes) -> int:
        call = self._perform(lib.native_count, query, len(query), hints, len(hints))
        count: int = call.number
        _engine.give(call)
        return count

    def estimated_document_count(self) -> int:
        """How many documents the collection has: exact, and without reading any."""
        try:
            return int(self.info()["documents"])
        except errors.NotFound:
            return 0

    def distinct(
        self,
        key: str,
        filter: Optional[Filter] = None,
        *,
        skip: int = 0,
        limit: int = 0,
        hint: Optional[Hint] = None,
        collation: Optional[Collation] = None,
        max_time_ms: Optional[int] = None,
    ) -> List[Any]:
        """The distinct values of a path in the documents that match, in their order; of an array its elements."""
        query = _engine.document(filter, self._codec, "filter")
        hints = hints_document(skip=skip, limit=limit, hint=hint, collation=collation, max_time_ms=max_time_ms)
        return self._distinct(key, query, hints)

    def _distinct(self, key: str, query: bytes, hints: Mapping[str, Any]) -> List[Any]:
        encoded = _encode(hints, False, self._codec)
        call = self._perform(
            lib.native_distinct, _engine.text(key, "key"), query, len(query), encoded, len(encoded)
        )
        return list(_decode(_engine.result(call), self._codec)["values"])

    def explain(self, filter: Optional[Filter] = None, **options: "Unpack[FindOptions]") -> Document:
        """Runs a query and returns how: the plans, their costs, and what was examined. Options: those of ``find``."""
        return self.find(filter, **options).explain()

    def _explain(self, query: bytes, hints: Mapping[str, Any]) -> Document:
        encoded = _encode(hints, False, self._codec)
        return self._report(lib.native_explain, query, len(query), encoded, len(encoded))

    # ---- Aggregate ----

    def aggregate(
        self,
        pipeline: Sequence[Mapping[str, Any]],
        *,
        let: Optional[Mapping[str, Any]] = None,
        hint: Optional[Hint] = None,
        collation: Optional[Collation] = None,
        max_time_ms: Optional[int] = None,
        allow_disk_use: Optional[bool] = None,
        max_memory: Optional[int] = None,
        batch_size: int = 0,
    ) -> "Results[Document]":
        """The documents that the stages of a pipeline make, which run now; none of one that ends with ``$out`` or ``$merge``.

        :param let: values of variables of the pipeline, ``{"n": 5}`` for ``"$$n"``
        """
        if isinstance(pipeline, (str, Mapping)) or not isinstance(pipeline, Sequence):
            raise TypeError("pipeline must be a list of stages")
        hints = hints_document(
            hint=hint, collation=collation, max_time_ms=max_time_ms, allow_disk_use=allow_disk_use, max_memory=max_memory
        )
        if let is not None:
            hints["$let"] = let
        stages = _encode({str(number): stage for number, stage in enumerate(pipeline)}, False, self._codec)
        if pipeline and isinstance(pipeline[-1], Mapping) and not pipeline[-1].keys().isdisjoint(("$out", "$merge")):
            encoded = _encode(hints, False, self._codec)
            _engine.result(self._perform(lib.native_write_pipeline, stages, len(stages), encoded, len(encoded)))
            return Results()
        cursor = CommandCursor(self, stages, hints, batch_size)
        cursor._start()
        return cursor

    def group(
        self,
        fields: Mapping[str, Any],
        by: Any = None,
        filter: Optional[Filter] = None,
        *,
        sort: Optional[Keys] = None,
        skip: int = 0,
        limit: int = 0,
        collation: Optional[Collation] = None,
        max_time_ms: Optional[int] = None,
        allow_disk_use: Optional[bool] = None,
        max_memory: Optional[int] = None,
    ) -> List[Document]:
        """Groups the documents that match, in the engine's own form (docs/query-language.md, "Groups").

        :param fields: names of aggregates, each ``{operator: path}``, such as ``{"n": {"$count": True}}``
        :param by: a path, a list of paths, or ``{name: path}``; one group without
        """
        group: Dict[str, Any] = {"fields": fields}
        if by is not None:
            group["by"] = by
        hints = hints_document(
            sort, skip, limit, None, None, collation, max_time_ms, allow_disk_use, max_memory
        )
        return self._group(_engine.document(filter, self._codec, "filter"), group, hints)

    def _group(self, query: bytes, group: Mapping[str, Any], hints: Mapping[str, Any]) -> List[Document]:
        grouped = _encode(group, False, self._codec)
        encoded = _encode(hints, False, self._codec)
        call = self._perform(
            lib.native_aggregate, query, len(query), grouped, len(grouped), encoded, len(encoded)
        )
        return list(_decode(_engine.result(call), self._codec)["groups"])

    # ---- Update ----

    def update_one(
        self,
        filter: Filter,
        update: Update,
        upsert: bool = False,
        *,
        array_filters: Optional[Sequence[Mapping[str, Any]]] = None,
        sort: Optional[Keys] = None,
        hint: Optional[Hint] = None,
        collation: Optional[Collation] = None,
        max_time_ms: Optional[int] = None,
    ) -> UpdateResult:
        """Applies update operators to the first document that matches; with ``upsert`` inserts one if none does."""
        hints = self._update_hints(1, upsert, array_filters, sort, hint, collation, max_time_ms)
        return self._update(filter, _operators(update), hints)

    def update_many(
        self,
        filter: Filter,
        update: Update,
        upsert: bool = False,
        *,
        array_filters: Optional[Sequence[Mapping[str, Any]]] = None,
        hint: Optional[Hint] = None,
        collation: Optional[Collation] = None,
        max_time_ms: Optional[int] = None,
    ) -> UpdateResult:
        """Applies update operators to all documents that match, in one commit."""
        hints = self._update_hints(0, upsert, array_filters, None, hint, collation, max_time_ms)
        return self._update(filter, _operators(update), hints)

    def replace_one(
        self,
        filter: Filter,
        replacement: Mapping[str, Any],
        upsert: bool = False,
        *,
        sort: Optional[Keys] = None,
        hint: Optional[Hint] = None,
        collation: Optional[Collation] = None,
        max_time_ms: Optional[int] = None,
    ) -> UpdateResult:
        """Replaces the first document that matches; its ``_id`` stays. With ``upsert`` inserts one if none does."""
        hints = self._update_hints(1, upsert, None, sort, hint, collation, max_time_ms)
        return self._update(filter, _replacement(replacement), hints)

    def _update_hints(
        self,
        limit: int,
        upsert: bool,
        array_filters: Optional[Sequence[Mapping[str, Any]]],
        sort: Optional[Keys],
        hint: Optional[Hint],
        collation: Optional[Collation],
        max_time_ms: Optional[int],
    ) -> bytes:
        if array_filters is None and sort is None and hint is None and collation is None and max_time_ms is None:
            return (_UPSERT_ONE if upsert else _ONE) if limit else (_UPSERT if upsert else EMPTY)
        hints = hints_document(sort, limit=limit, hint=hint, collation=collation, max_time_ms=max_time_ms)
        if upsert:
            hints["$upsert"] = True
        if array_filters is not None:
            hints["$arrayFilters"] = list(array_filters)
        return _encode(hints, False, self._codec)

    def _update(self, filter: Filter, update: Mapping[str, Any], hints: bytes) -> UpdateResult:
        query = _engine.document(_required(filter), self._codec, "filter")
        change = _encode(update, False, self._codec)
        call = self._perform(lib.native_update, query, len(query), change, len(change), hints, len(hints))
        done = _decode(_engine.result(call), self._codec)
        upserted = done["upserted"]
        return UpdateResult(done["matched"], done["modified"], upserted[0] if upserted else None)

    def find_one_and_update(
        self,
        filter: Filter,
        update: Update,
        projection: Optional[Projection] = None,
        sort: Optional[Keys] = None,
        upsert: bool = False,
        return_document: bool = ReturnDocument.BEFORE,
        *,
        array_filters: Optional[Sequence[Mapping[str, Any]]] = None,
        hint: Optional[Hint] = None,
        collation: Optional[Collation] = None,
        max_time_ms: Optional[int] = None,
    ) -> Optional[Document]:
        """Applies update operators to the first document that matches, and returns it as it was, or is afterwards."""
        hints = hints_document(sort, 0, 0, projection, hint, collation, max_time_ms)
        if upsert:
            hints["$upsert"] = True
        if array_filters is not None:
            hints["$arrayFilters"] = list(array_filters)
        return self._modify(filter, _operators(update), hints, _returned(return_document))

    def find_one_and_replace(
        self,
        filter: Filter,
        replacement: Mapping[str, Any],
        projection: Optional[Projection] = None,
        sort: Optional[Keys] = None,
        upsert: bool = False,
        return_document: bool = ReturnDocument.BEFORE,
        *,
        hint: Optional[Hint] = None,
        collation: Optional[Collation] = None,
        max_time_ms: Optional[int] = None,
    ) -> Optional[Document]:
        """Replaces the first document that matches, and returns it as it was, or is afterwards."""
        hints = hints_document(sort, 0, 0, projection, hint, collation, max_time_ms)
        if upsert:
            hints["$upsert"] = True
        return self._modify(filter, _replacement(replacement), hints, _returned(return_document))

    def find_one_and_delete(
        self,
        filter: Filter,
        projection: Optional[Projection] = None,
        sort: Optional[Keys] = None,
        *,
        hint: Optional[Hint] = None,
        collation: Optional[Collation] = None,
        max_time_ms: Optional[int] = None,
    ) -> Optional[Document]:
        """Removes the first document that matches, and returns it."""
        return self._modify(filter, None, hints_document(sort, 0, 0, projection, hint, collation, max_time_ms), 2)

    def _modify(
        self, filter: Filter, update: Optional[Mapping[str, Any]], hints: Mapping[str, Any], mode: int
    ) -> Optional[Document]:
        query = _engine.document(_required(filter), self._codec, "filter")
        change = NULL if update is None else _encode(update, False, self._codec)
        encoded = _encode(hints, False, self._codec)
        size = 0 if update is None else len(change)
        call = self._perform(
            lib.native_find_and_modify, query, len(query), change, size, encoded, len(encoded), mode
        )
        data = _engine.result(call)
        return _decode(data, self._codec) if data else None

    # ---- Delete ----

    def delete_one(
        self,
        filter: Filter,
        *,
        sort: Optional[Keys] = None,
        hint: Optional[Hint] = None,
        collation: Optional[Collation] = None,
        max_time_ms: Optional[int] = None,
    ) -> DeleteResult:
        """Removes the first document that matches."""
        return self._delete(filter, self._hints(sort, 0, 1, None, hint, collation, max_time_ms))

    def delete_many(
        self,
        filter: Filter,
        *,
        hint: Optional[Hint] = None,
        collation: Optional[Collation] = None,
        max_time_ms: Optional[int] = None,
    ) -> DeleteResult:
        """Removes all documents that match, in one commit."""
        return self._delete(filter, self._hints(None, 0, 0, None, hint, collation, max_time_ms))

    def _delete(self, filter: Filter, hints: bytes) -> DeleteResult:
        query = _engine.document(_required(filter), self._codec, "filter")
        call = self._perform(lib.native_remove, query, len(query), hints, len(hints))
        removed: int = call.number
        _engine.give(call)
        return DeleteResult(removed)

    # ---- Indexes ----

    def create_index(
        self,
        keys: Keys,
        name: Optional[str] = None,
        *,
        unique: bool = False,
        sparse: bool = False,
        case_insensitive: bool = False,
        partial_filter: Optional[Filter] = None,
        only: Optional[Sequence[str]] = None,
        except_paths: Optional[Sequence[str]] = None,
        max_entries: Optional[int] = None,
        declare: bool = False,
        progress: Optional[Progress] = None,
        partialFilterExpression: Optional[Filter] = None,
        expireAfterSeconds: Optional[int] = None,
    ) -> str:
        """Creates an index, and returns its name. The same index again is no error; the same name with another definition
        raises Exists.

        :param keys: paths with directions; ``"**"`` or ``"path.**"`` is a wildcard index
        :param name: its name; by default that of the keys, such as ``age_1``
        :param unique: no two documents have the same value
        :param sparse: documents without any of the paths are left out
        :param case_insensitive: strings ignoring case
        :param partial_filter: only documents that match this query (pymongo's ``partialFilterExpression`` is the same)
        :param only: the paths of a wildcard index
        :param except_paths: the paths that a wildcard index leaves out
        :param max_entries: how many entries one document may have
        :param declare: also create it again whenever this open database creates the collection
        :param progress: is called with the documents read and their number
        :param expireAfterSeconds: documents are removed so many seconds after the date at the path, as Database.expire says
        """
        paths = {path.replace("$**", "**"): direction for path, direction in keys_document(keys).items()}
        chosen = index_name(paths) if name is None else name
        options: Dict[str, Any] = {}
        if unique:
            options["unique"] = True
        if sparse:
            options["sparse"] = True
        if case_insensitive:
            options["caseInsensitive"] = True
        if partial_filter is not None and partialFilterExpression is not None:
            raise errors.InvalidArgument("partial_filter and partialFilterExpression are one option", "partial_filter")
        filter = partialFilterExpression if partial_filter is None else partial_filter
        if filter is not None:
            options["partialFilter"] = filter
        for key, listed in (("only", only), ("except", except_paths)):
            if listed is not None:
                options[key] = _engine.names(listed, key)
        if max_entries is not None:
            options["maxEntries"] = _engine.whole(max_entries, "max_entries")
        if expireAfterSeconds is not None:
            options["expireAfterSeconds"] = _engine.whole(expireAfterSeconds, "expireAfterSeconds")
        encoded_keys = _encode(paths, False, self._codec)
        encoded = _encode(options, False, self._codec)
        arguments = (
            self._database._handle, self._database._transaction_handle(), self._name, _engine.name(chosen, "index"),
            encoded_keys, len(encoded_keys), encoded, len(encoded), int(declare),
        )  # fmt: skip
        _engine.give(_engine.with_callbacks(lib.native_index_create, arguments, progress))
        return chosen

    def list_indexes(self) -> "Results[Document]":
        """The indexes: ``name``, ``keys``, ``unique``, ``entries`` and others. That of ``_id`` is not listed."""
        try:
            return Results(self._report(lib.native_index_list)["indexes"])
        except errors.NotFound:
            return Results()

    def index_information(self) -> Dict[str, Document]:
        """The indexes by their names."""
        return {index.pop("name"): index for index in self.list_indexes()}

    def drop_index(self, index_or_name: Keys) -> None:
        """Drops an index by its name or its keys. Raises NotFound."""
        named = index_or_name if isinstance(index_or_name, str) else index_name(keys_document(index_or_name))
        self._call(lib.native_index_drop, _engine.name(named, "index"))

    def drop_indexes(self) -> None:
        """Drops all indexes."""
        for index in self.list_indexes():
            self.drop_index(index["name"])

    # ---- The collection ----

    def info(self) -> Document:
        """``name``, ``documents`` (how many) and ``options`` of the collection. Raises NotFound."""
        return self._report(lib.native_collection_info)

    def options(self) -> Document:
        """The options that the collection was created with; none if it does not exist."""
        try:
            return dict(self.info()["options"])
        except errors.NotFound:
            return {}

    def drop(self) -> None:
        """Drops the collection with its documents and indexes. Raises NotFound."""
        self._call(lib.native_collection_drop)

    def rename(self, new_name: str) -> "Collection":
        """Renames the collection, and returns it by its new name. Raises NotFound, Exists."""
        self._call(lib.native_collection_rename, _engine.name(new_name))
        return Collection(self._database, new_name, self._codec)

    def watch(self, *, since: Optional[int] = None, before: bool = False, after: bool = True) -> "ChangeStream":
        """The changes of the collection, as ``Database.watch``."""
        return self._database.watch([self.name], since=since, before=before, after=after)

    # ---- Calls ----

    def _perform(self, function: Any, *arguments: Any) -> Any:
        database = self._database
        return _engine.perform(function, database._handle, database._transaction_handle(), self._name, *arguments)

    def _call(self, function: Any, *arguments: Any) -> None:
        _engine.give(self._perform(function, *arguments))

    def _report(self, function: Any, *arguments: Any) -> Document:
        return _decode(_engine.result(self._perform(function, *arguments)), _engine.DEFAULT_CODEC)

    def _hints(self, *arguments: Any, **keywords: Any) -> bytes:
        hints = hints_document(*arguments, **keywords)
        return _encode(hints, False, self._codec) if hints else EMPTY


def _id_document(_id: Any) -> Optional[bytes]:
    """``{"_id": _id}`` in BSON form for the usual types of ids, several times as fast as the codec; others are ``None``."""
    kind = type(_id)
    if kind is int and -1 << 63 <= _id < 1 << 63:
        return _pack_int_id(18, b"\x12_id\0", _id, 0)
    if kind is ObjectId:
        return b"".join((b"\x16\0\0\0\x07_id\0", _id.binary, b"\0"))
    if kind is str and len(_id) < 1 << 20:
        encoded = _id.encode("utf-8")
        return _pack_text_id(len(encoded) + 15, b"\x02_id\0", len(encoded) + 1) + bytes(encoded) + b"\0\0"
    return None


def _give_id(document: MutableMapping[str, Any]) -> Any:
    """The ``_id`` of a document that is to be saved; a new one if it has none, as in pymongo."""
    if isinstance(document, (dict, Mapping)):
        if "_id" in document:
            return document["_id"]
        if not isinstance(document, RawBSONDocument):
            made = document["_id"] = ObjectId()
            return made
        raise errors.InvalidDocument("A RawBSONDocument that is saved needs an _id")
    raise TypeError(f"a document must be a mapping, not {type(document).__name__}")


def _required(filter: Optional[Filter]) -> Filter:
    if type(filter) is not dict and not isinstance(filter, Mapping):
        raise TypeError(f"filter must be a mapping, not {type(filter).__name__}")
    return filter


def _operators(update: Update) -> Mapping[str, Any]:
    if type(update) is dict:
        return update
    if isinstance(update, (list, tuple)):
        return {"$pipeline": list(update)}
    if not isinstance(update, Mapping):
        raise TypeError(f"update must be a mapping or a list of stages, not {type(update).__name__}")
    return update


def _replacement(document: Mapping[str, Any]) -> Mapping[str, Any]:
    if type(document) is not dict and not isinstance(document, Mapping):
        raise TypeError(f"replacement must be a mapping, not {type(document).__name__}")
    return {"$replace": document}
