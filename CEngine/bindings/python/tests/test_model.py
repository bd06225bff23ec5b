"""The package against a plain dict with a naive matcher."""

import copy
import gc
import io
import shutil
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import tansu

MISSING = object()
OPERATORS = {
    "$gt": lambda a, b: a > b,
    "$gte": lambda a, b: a >= b,
    "$lt": lambda a, b: a < b,
    "$lte": lambda a, b: a <= b,
}


# ---- The model ----


def values(document: Any, path: str) -> List[Any]:
    """What a path selects: the value and, of an array, its elements; MISSING if there is none."""
    for part in path.split("."):
        document = document.get(part, MISSING) if isinstance(document, dict) else MISSING
    return [document, *document] if isinstance(document, list) else [document]


def same(a: Any, b: Any) -> bool:
    a, b = (None if value is MISSING else value for value in (a, b))
    return rank(a) == rank(b) and a == b


def rank(value: Any) -> int:
    """The kind of a value in the order of kinds."""
    if value is MISSING or value is None:
        return 0
    return {int: 1, float: 1, str: 2, dict: 3, list: 4, bool: 5}[type(value)]


def satisfies(document: Any, path: str, condition: Any) -> bool:
    found = values(document, path)
    if not isinstance(condition, dict):
        return any(same(value, condition) for value in found)
    for operator, operand in condition.items():
        if operator == "$exists":
            held = (found[0] is not MISSING) == operand
        elif operator == "$in":
            held = any(same(value, one) for value in found for one in operand)
        elif operator == "$ne":
            held = not any(same(value, operand) for value in found)
        else:
            held = any(
                rank(value) == rank(operand) and value is not MISSING and OPERATORS[operator](value, operand)
                for value in found
            )
        if not held:
            return False
    return True


def matches(document: Dict[str, Any], query: Dict[str, Any]) -> bool:
    for path, condition in query.items():
        if path == "$or":
            held = any(matches(document, branch) for branch in condition)
        elif path == "$nor":
            held = not any(matches(document, branch) for branch in condition)
        else:
            held = satisfies(document, path, condition)
        if not held:
            return False
    return True


def sort_key(document: Dict[str, Any], path: str, direction: int) -> Any:
    found = values(document, path)
    if isinstance(found[0], list):
        found = found[1:] or [MISSING]
    ranked = [(rank(value), 0 if rank(value) == 0 else value) for value in found]
    return min(ranked) if direction > 0 else max(ranked)


# ---- What is tried ----

ids = st.integers(0, 12) | st.sampled_from(["x", "y", 2.5])
scalars = st.none() | st.integers(-3, 6) | st.sampled_from(["", "a", "b", "ab"])
numbers = st.integers(-3, 6)
fields = st.fixed_dictionaries(
    {},
    optional={
        "a": scalars,
        "b": st.lists(numbers, max_size=3),
        "c": st.fixed_dictionaries({}, optional={"d": scalars}),
        "u": st.integers(0, 5),
    },
)
comparisons = st.one_of(
    scalars,
    st.builds(lambda operator, value: {operator: value}, st.sampled_from(sorted(OPERATORS)), st.integers(-3, 6)),
    st.builds(lambda value: {"$ne": value}, scalars),
    st.builds(lambda some: {"$in": some}, st.lists(scalars, max_size=3)),
    st.builds(lambda value: {"$exists": value}, st.booleans()),
    st.builds(lambda low, high: {"$gte": low, "$lt": high}, numbers, numbers),
)
conditions = st.dictionaries(st.sampled_from(["a", "b", "c.d", "u"]), comparisons, max_size=2)
queries = st.one_of(
    conditions,
    st.builds(lambda one: {"_id": one}, ids),
    st.builds(lambda some: {"$or": some}, st.lists(conditions, min_size=1, max_size=3)),
    st.builds(lambda some, more: {"$nor": some, **more}, st.lists(conditions, min_size=1, max_size=2), conditions),
)
orders = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c.d"]), st.sampled_from([1, -1])), max_size=2, unique_by=lambda key: key[0]
)
indexes = st.sampled_from(
    ["a", "b", "c.d", [("a", -1), ("c.d", 1)], [("b", 1), ("a", 1)], [("c.d", 1), ("_id", 1)], "**"]
)
UNIQUE = "u_1"


class Machine(RuleBasedStateMachine):
    """Every change is made to a collection and to a dict; then they have the same documents in the same order."""

    @initialize(durability=st.sampled_from(["process", "interval"]))
    def begin(self, durability: str) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.options = dict(durability=durability, segment_size=1 << 20)
        self.db = tansu.open(self.folder / "db", **self.options)  # type: ignore[arg-type]
        self.model: Dict[Any, Dict[str, Any]] = {}
        self.made: Dict[str, Any] = {}
        self.names = self.copies = 0
        self.unique = False
        self.blocks: List[Any] = []
        self.saved: List[Any] = []
        self.stream = self.db.watch(["people"])
        self.sequence = 0
        self.mirror: Dict[Any, Dict[str, Any]] = {}

    def teardown(self) -> None:
        if hasattr(self, "db"):
            while self.blocks:
                self.blocks.pop().__exit__(ValueError, None, None)
            self.db.close()
            shutil.rmtree(self.folder)

    @property
    def people(self) -> tansu.Collection:
        return self.db["people"]

    def taken(self, document: Dict[str, Any], but: Any = MISSING) -> bool:
        """Whether the unique index has its value in another document."""
        return (
            self.unique
            and "u" in document
            and any(other.get("u") == document["u"] for key, other in self.model.items() if key != but)
        )

    def found(self, query: Dict[str, Any]) -> List[Dict[str, Any]]:
        return [document for document in self.model.values() if matches(document, query)]

    # ---- Changes ----

    @rule(_id=ids, document=fields)
    def insert_one(self, _id: Any, document: Dict[str, Any]) -> None:
        document = {"_id": _id, **document}
        if _id in self.model or self.taken(document):
            with pytest.raises(tansu.DuplicateKey):
                self.people.insert_one(document)
        else:
            assert self.people.insert_one(document).inserted_id == _id
            self.model[_id] = document

    @rule(documents=st.dictionaries(ids, fields, min_size=1, max_size=5))
    def insert_many(self, documents: Dict[Any, Dict[str, Any]]) -> None:
        wanted = [{"_id": key, **document} for key, document in documents.items()]
        before = copy.deepcopy(self.model)
        for number, document in enumerate(wanted):
            if document["_id"] in self.model or self.taken(document):
                with pytest.raises(tansu.DuplicateKey) as raised:
                    self.people.insert_many(wanted)
                assert raised.value.offset == number
                self.model = before
                return
            self.model[document["_id"]] = document
        assert self.people.insert_many(wanted).inserted_ids == list(documents)

    @rule(_id=ids, document=fields)
    def save(self, _id: Any, document: Dict[str, Any]) -> None:
        document = {"_id": _id, **document}
        if self.taken(document, _id):
            with pytest.raises(tansu.NotUnique):
                self.people.save(document)
        else:
            self.people.save(document)
            self.model[_id] = document

    @rule(query=queries, document=fields)
    def replace_one(self, query: Dict[str, Any], document: Dict[str, Any]) -> None:
        found = self.found(query)
        if found and self.taken(document, found[0]["_id"]):
            with pytest.raises(tansu.NotUnique):
                self.people.replace_one(query, document)
            return
        done = self.people.replace_one(query, document)
        assert done.matched_count == min(1, len(found)) and done.upserted_id is None
        if found:
            self.model[found[0]["_id"]] = {"_id": found[0]["_id"], **document}

    @rule(query=queries, value=scalars, many=st.booleans(), path=st.sampled_from(["a", "c.d"]))
    def set_field(self, query: Dict[str, Any], value: Any, many: bool, path: str) -> None:
        found = self.found(query) if many else self.found(query)[:1]
        changed = 0
        for document in found:
            holder = document if path == "a" else document.setdefault("c", {})
            key = path[-1]
            changed += not (key in holder and rank(holder[key]) == rank(value) and holder[key] == value)
            holder[key] = value
        update = self.people.update_many if many else self.people.update_one
        done = update(query, {"$set": {path: value}})
        assert (done.matched_count, done.modified_count) == (len(found), changed)

    @rule(query=queries, by=numbers)
    def increment(self, query: Dict[str, Any], by: int) -> None:
        found = self.found(query)
        if any(rank(document.get("a", 0)) != 1 for document in found):
            with pytest.raises(tansu.InvalidQuery):
                self.people.update_many(query, {"$inc": {"a": by}})
            return
        self.people.update_many(query, {"$inc": {"a": by}})
        for document in found:
            document["a"] = document.get("a", 0) + by

    @rule(query=queries, value=numbers)
    def push(self, query: Dict[str, Any], value: int) -> None:
        self.people.update_many(query, {"$push": {"b": value}, "$unset": {"a": ""}})
        for document in self.found(query):
            document["b"] = document.get("b", []) + [value]
            document.pop("a", None)

    @rule(_id=ids, value=scalars)
    def upsert(self, _id: Any, value: Any) -> None:
        done = self.people.update_one({"_id": _id}, {"$set": {"a": value}}, upsert=True)
        assert done.upserted_id == (None if _id in self.model else _id)
        self.model.setdefault(_id, {"_id": _id})["a"] = value

    @rule(query=queries, order=orders, value=scalars, after=st.booleans())
    def find_one_and_update(self, query: Dict[str, Any], order: Any, value: Any, after: bool) -> None:
        found = self.ordered(self.found(query), order)[:1]
        expected: Optional[Dict[str, Any]] = copy.deepcopy(found[0]) if found else None
        for document in found:
            document["a"] = value
        if found and after:
            expected = found[0]
        assert expected == self.people.find_one_and_update(
            query, {"$set": {"a": value}}, sort=order or None, return_document=after
        )

    @rule(query=queries, many=st.booleans())
    def delete(self, query: Dict[str, Any], many: bool) -> None:
        found = self.found(query) if many else self.found(query)[:1]
        done = (self.people.delete_many if many else self.people.delete_one)(query)
        assert done.deleted_count == len(found)
        for document in found:
            del self.model[document["_id"]]

    @rule(query=queries, order=orders)
    def find_one_and_delete(self, query: Dict[str, Any], order: Any) -> None:
        found = self.ordered(self.found(query), order)[:1]
        assert self.people.find_one_and_delete(query, sort=order or None) == (found[0] if found else None)
        for document in found:
            del self.model[document["_id"]]

    # ---- Reads ----

    def ordered(self, documents: List[Dict[str, Any]], order: Any) -> List[Dict[str, Any]]:
        for path, direction in reversed(order):
            # Python keeps equal elements in their order also when reversed.
            documents = sorted(documents, key=lambda one: sort_key(one, path, direction), reverse=direction < 0)
        return documents

    @rule(
        query=queries, order=orders, skip=st.integers(0, 3), limit=st.integers(0, 4), batch=st.integers(0, 3),
        projection=st.sampled_from([None, ["a"], {"b": 0}, {"_id": 0, "a": 1, "u": 1}]),
    )  # fmt: skip
    def find(self, query: Any, order: Any, skip: int, limit: int, batch: int, projection: Any) -> None:
        expected = self.ordered(self.found(query), order)[skip:]
        expected = expected[:limit] if limit else expected
        if projection is not None:
            expected = [project(document, projection) for document in expected]
        found = self.people.find(query, projection, sort=order, skip=skip, limit=limit, batch_size=batch)
        assert list(found) == expected
        first = self.people.find_one(query, projection, sort=order, skip=skip)
        assert first == (expected[0] if expected else None)

    @rule(query=queries)
    def count(self, query: Dict[str, Any]) -> None:
        assert self.people.count_documents(query) == len(self.found(query))
        assert self.people.estimated_document_count() == len(self.model)

    @rule(query=queries, path=st.sampled_from(["a", "b", "u"]))
    def distinct(self, query: Dict[str, Any], path: str) -> None:
        found = {
            value
            for document in self.found(query)
            for value in values(document, path)
            if value is not MISSING and not isinstance(value, list)
        }
        expected = sorted(found, key=lambda value: (rank(value), value or 0 if rank(value) < 2 else value))
        assert self.people.distinct(path, query) == expected

    @rule(keys=st.lists(ids, max_size=4))
    def get_many(self, keys: List[Any]) -> None:
        assert self.people.get_many(keys) == [self.model.get(key) for key in keys]
        for key in keys:
            assert self.people.get(key) == self.people.find_one(key) == self.model.get(key)

    # ---- Indexes ----

    @precondition(lambda self: len(self.blocks) < 2)
    @rule(keys=indexes, sparse=st.booleans())
    def create_index(self, keys: Any, sparse: bool) -> None:
        sparse = sparse and keys != "**"
        self.names += 1
        name = self.made[str(keys)][0] if str(keys) in self.made else f"i{self.names}"
        if str(keys) in self.made and self.made[str(keys)][1] != sparse:
            with pytest.raises(tansu.Exists):
                self.people.create_index(keys, name, sparse=sparse)
            return
        assert self.people.create_index(keys, name, sparse=sparse) == name
        self.made[str(keys)] = (name, sparse)

    @precondition(lambda self: len(self.blocks) < 2 and self.made)
    @rule(data=st.data())
    def drop_index(self, data: Any) -> None:
        key = data.draw(st.sampled_from(sorted(self.made)))
        self.people.drop_index(self.made.pop(key)[0])

    @precondition(lambda self: len(self.blocks) < 2)
    @rule()
    def toggle_unique(self) -> None:
        if self.unique:
            self.people.drop_index(UNIQUE)
            self.unique = False
            return
        found = [document["u"] for document in self.model.values() if "u" in document]
        if len(found) != len(set(found)):
            with pytest.raises(tansu.NotUnique):
                self.people.create_index("u", unique=True, sparse=True)
            return
        assert self.people.create_index("u", unique=True, sparse=True) == UNIQUE
        self.unique = True

    # ---- Transactions ----

    @precondition(lambda self: len(self.blocks) < 4)
    @rule()
    def begin_block(self) -> None:
        self.blocks.append(self.db.transaction().__enter__())
        self.saved.append((copy.deepcopy(self.model), dict(self.made), self.unique))

    @precondition(lambda self: self.blocks)
    @rule(how=st.sampled_from(["keep", "raise", "rollback"]))
    def end_block(self, how: str) -> None:
        block, saved = self.blocks.pop(), self.saved.pop()
        if how == "rollback":
            block.rollback()
        kind = ValueError if how == "raise" else None
        block.__exit__(kind, None, None)
        if how != "keep":
            self.model, self.made, self.unique = saved

    # ---- Changes and copies ----

    @precondition(lambda self: not self.blocks)
    @rule()
    def follow(self) -> None:
        """The changes make a copy what the collection is."""
        for change in iter(self.stream.try_next, None):
            if change.kind == "remove":
                self.mirror.pop(change.id, None)
            elif change.kind == "drop_collection":
                self.mirror.clear()
            elif change.kind in ("insert", "update"):
                self.mirror[change.id] = change.after  # type: ignore[assignment]
            if change.last:
                self.sequence = change.sequence
        assert self.mirror == self.model

    @precondition(lambda self: not self.blocks)
    @rule(how=st.sampled_from(["clone", "folder", "file", "dump"]))
    def copy(self, how: str) -> None:
        self.copies += 1
        to, backup = self.folder / f"copy{self.copies}", self.folder / f"backup{self.copies}"
        if how == "clone":
            copied = self.db.clone()
        elif how == "dump":
            copied, text = tansu.open(), io.BytesIO()
            self.db.dump(text)
            copied.load(io.BytesIO(text.getvalue()))
        else:
            self.db.backup(backup, form=how)
            tansu.restore(backup, to)
            copied = tansu.open(to)
        with copied:
            assert copied.verify()["ok"]
            assert list(copied["people"].find()) == list(self.model.values())
            assert copied["people"].index_information() == self.people.index_information()

    @precondition(lambda self: not self.blocks)
    @rule()
    def drop(self) -> None:
        if "people" in self.db.list_collection_names():
            self.people.drop()
        self.model.clear()
        self.made.clear()
        self.unique = False

    @precondition(lambda self: not self.blocks)
    @rule(close=st.booleans())
    def reopen(self, close: bool) -> None:
        if close:
            self.db.close()
        else:
            del self.db, self.stream  # the garbage collector closes it, once it has found the tracebacks of what was raised
            gc.collect()
        self.db = tansu.open(self.folder / "db", must_exist=True, **self.options)  # type: ignore[arg-type]
        try:
            self.stream = self.db.watch(["people"], since=self.sequence)
        except tansu.NotFound:  # compaction dropped removals
            self.stream = self.db.watch(["people"], since=0)
            self.mirror.clear()

    @precondition(lambda self: not self.blocks)
    @rule()
    def maintain(self) -> None:
        self.db.compact()
        assert self.db.verify()["ok"]

    @invariant()
    def same_documents(self) -> None:
        if hasattr(self, "db"):
            assert list(self.people.find()) == list(self.model.values())


def project(document: Dict[str, Any], projection: Any) -> Dict[str, Any]:
    if isinstance(projection, list):
        projection = {path: 1 for path in projection}
    included = {path for path, flag in projection.items() if flag}
    if not included:
        return {key: value for key, value in document.items() if projection.get(key, 1)}
    return {key: value for key, value in document.items() if key in included or (key == "_id" and "_id" not in projection)}


TestMachine = Machine.TestCase
