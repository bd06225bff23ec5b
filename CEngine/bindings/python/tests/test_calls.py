"""Each public call, as a user of pymongo makes it, with good and bad inputs."""

import contextlib
import contextvars
import datetime
import inspect
import io
import os
import pickle
import re
import threading
import uuid
from pathlib import Path
from typing import Any, List

import bson
import pytest
from bson import Binary, Code, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson.binary import UuidRepresentation
from bson.codec_options import CodecOptions, TypeCodec, TypeRegistry
from bson.raw_bson import RawBSONDocument

import tansu
from tansu import errors
from tansu._native import ffi, lib

ADA = {"_id": 1, "name": "Ada", "age": 36, "tags": ["x", "y"]}
ALAN = {"_id": 2, "name": "Alan", "age": 41, "tags": ["y"]}
GRACE = {"_id": 3, "name": "Grace", "age": 85}


@pytest.fixture
def people(db: tansu.Database) -> tansu.Collection:
    db.people.insert_many([dict(ADA), dict(ALAN), dict(GRACE)])
    return db.people


def has_regular_expressions() -> bool:
    """Whether the engine was built with PCRE2."""
    with tansu.open() as db:
        try:
            db.c.find_one({"a": Regex("a")})
        except tansu.Unsupported:
            return False
    return True


needs_regular_expressions = pytest.mark.skipif(not has_regular_expressions(), reason="the engine has no PCRE2")


def ids(results: Any) -> List[Any]:
    return [document["_id"] for document in results]


# ---- Documents ----


def test_every_type_survives(db: tansu.Database) -> None:
    document = {
        "_id": ObjectId(),
        "double": 1.5, "nan": float("inf"), "text": "Straße \0 \U0001f600", "document": {"a": {"b": []}}, "array": [1, [2, {}]],
        "binary": b"\0\1", "typed": Binary(b"x", 128), "id": ObjectId(), "bool": True, "null": None,
        "date": datetime.datetime(2026, 11, 27, 12, 30, 0, 123000), "regex": Regex("^a", "i"), "code": Code("x"),
        "int": -5, "int64": Int64(1 << 40), "timestamp": Timestamp(1, 2), "decimal": Decimal128("0.10"),
        "min": MinKey(), "max": MaxKey(), "empty": "", "key with . and \u00e9": 1,
    }  # fmt: skip
    db.c.insert_one(document)
    found = db.c.find_one()
    assert found == document
    assert list(found) == list(document)
    assert [type(value) for value in found.values()] == [type(value) for value in document.values()]
    assert db.c.get(document["_id"]) == document


def test_insert_one_gives_an_id(db: tansu.Database) -> None:
    document = {"a": 1}
    inserted = db.c.insert_one(document).inserted_id
    assert isinstance(inserted, ObjectId) and document["_id"] == inserted
    assert list(db.c.find_one()) == ["_id", "a"]


@pytest.mark.parametrize("_id", [0, -1, 1 << 62, "", "a\0b", 1.5, True, b"x", ObjectId(), {"a": 1}, Decimal128("1.5")])
def test_ids_of_any_type(db: tansu.Database, _id: Any) -> None:
    db.c.insert_one({"_id": _id, "a": 1})
    assert db.c.get(_id) == db.c.find_one({"_id": {"$eq": _id}}) == {"_id": _id, "a": 1}
    assert db.c.get_many([_id, "none"]) == [{"_id": _id, "a": 1}, None]
    with pytest.raises(tansu.Exists):
        db.c.insert_one({"_id": _id})


def test_find_one_by_id(people: tansu.Collection) -> None:
    assert people.find_one(1) == people.find_one({"_id": 1}) == people.find_one({"_id": 1.0}) == ADA
    assert people.find_one({"_id": {"$gt": 1}}) == ALAN
    assert people.find_one({"_id": 9}) is people.get(9) is None
    assert people.find_one({"_id": 1, "age": 0}) is None
    assert people.find_one({"_id": None}) is None
    assert people.database.none.find_one(1) is None
    with pytest.raises(tansu.InvalidId):
        people.get([1])


@pytest.mark.parametrize("_id", [[], Regex("a")])
def test_ids_that_are_not_allowed(db: tansu.Database, _id: Any) -> None:
    with pytest.raises(tansu.InvalidId):
        db.c.insert_one({"_id": _id})


@pytest.mark.parametrize(
    "document, error",
    [
        ({"a": 1 << 64}, OverflowError),
        ({"a": object()}, bson.errors.InvalidDocument),
        ({"a\0b": 1}, bson.errors.InvalidDocument),
        ({1: 2}, bson.errors.InvalidDocument),
        ({"a": "\ud800"}, UnicodeEncodeError),
        ({"a": "x" * (17 << 20)}, tansu.TooLarge),
        ([], TypeError),
        (None, TypeError),
        ("text", TypeError),
    ],
)
def test_documents_that_are_not_allowed(db: tansu.Database, document: Any, error: Any) -> None:
    with pytest.raises(error):
        db.c.insert_one(document)
    with pytest.raises(error):
        db.c.insert_many([{}, document])
    assert db.c.count_documents() == 0


def test_null_as_id_and_names_with_a_dollar_sign(db: tansu.Database) -> None:
    document = {"_id": None, "price": {"$eur": 5}, "$a": 1}
    assert db.c.insert_one(document).inserted_id is None
    assert db.c.get(None) == db.c.find_one({"_id": None}) == document
    with pytest.raises(tansu.Exists):
        db.c.insert_one({"_id": None})
    assert db.c.delete_one({"_id": None}).deleted_count == 1


def test_depth(db: tansu.Database) -> None:
    nested: Any = {}
    for _ in range(200):
        nested = {"a": nested}
    with pytest.raises(tansu.Error):
        db.c.insert_one(nested)
    endless: Any = {}
    endless["a"] = endless
    with pytest.raises(RecursionError):
        db.c.insert_one(endless)
    with pytest.raises(RecursionError):
        db.c.find_one({"b": endless})


def test_insert_many(db: tansu.Database) -> None:
    assert db.c.insert_many({"_id": i} for i in range(5)).inserted_ids == [0, 1, 2, 3, 4]
    with pytest.raises(tansu.DuplicateKey) as raised:
        db.c.insert_many([{"_id": 5}, {"_id": 6}, {"_id": 1}])
    assert isinstance(raised.value, tansu.Exists)
    assert raised.value.offset == 2 and raised.value.status == "EXISTS" and raised.value.code == 21
    assert db.c.count_documents({}) == 5
    for wrong in ([], {}, None, 5, [5]):
        with pytest.raises(TypeError):
            db.c.insert_many(wrong)  # type: ignore[arg-type]


def test_get_many(db: tansu.Database) -> None:
    db.c.insert_many({"_id": i, "text": "x" * 2000} for i in range(15000))
    wanted = [*range(14999, -1, -1), "none", 5]
    found = db.c.get_many(wanted)  # several calls, of more than 16 MiB
    assert [document and document["_id"] for document in found] == [*range(14999, -1, -1), None, 5]
    assert db.c.get_many([]) == [] and db.none.get_many([1]) == [None]
    with pytest.raises(tansu.InvalidId):
        db.c.get_many([1, [2]])
    with pytest.raises(TypeError):
        db.c.get_many(5)  # type: ignore[arg-type]


def test_save(people: tansu.Collection) -> None:
    people.save({"_id": 1, "name": "Augusta"})
    people.save_many([{"_id": 4}, {"_id": 2, "name": "Turing"}])
    assert [document.get("name") for document in people.find()] == ["Augusta", "Turing", "Grace", None]


# ---- Find ----


def test_find(people: tansu.Collection) -> None:
    assert list(people.find()) == [ADA, ALAN, GRACE]
    assert ids(people.find({"age": {"$gt": 40}})) == [2, 3]
    assert ids(people.find({"tags": "y"}, sort=[("age", -1)])) == [2, 1]
    assert ids(people.find().sort("age", tansu.DESCENDING).skip(1).limit(1)) == [2]
    assert ids(people.find(sort="name", limit=-2)) == [1, 2]
    assert list(people.find({"_id": 1}, ["name"])) == [{"_id": 1, "name": "Ada"}]
    assert list(people.find({"_id": 1}, {"tags": 0, "_id": 0})) == [{"name": "Ada", "age": 36}]
    assert list(people.find({"_id": 1}, [])) == [{"_id": 1}]
    assert ids(people.find({"name": "ADA"}, collation="caseInsensitive")) == [1]
    assert ids(people.find({"name": "ADA"}).collation({"caseInsensitive": True})) == [1]
    assert people.find_one({"age": {"$gt": 40}}, {"_id": 0, "name": 1}, sort={"age": -1}) == {"name": "Grace"}


@needs_regular_expressions
def test_find_by_regular_expression(people: tansu.Collection) -> None:
    assert ids(people.find({"name": {"$regex": "^A"}})) == ids(people.find({"name": Regex("^a", "i")})) == [1, 2]
    assert ids(people.find({"name": re.compile("^a", re.IGNORECASE)})) == [1, 2]
    with pytest.raises(tansu.InvalidQuery) as raised:
        people.find_one({"name": {"$regex": "(unclosed"}})
    assert raised.value.offset == 9


def test_find_joins(people: tansu.Collection) -> None:
    people.database.cars.insert_one({"_id": 1, "owner": 2})
    assert people.database.cars.find_one(join={"owner": {"$join": "people"}}) == {"_id": 1, "owner": ALAN}


@pytest.mark.parametrize(
    "arguments, error",
    [
        (dict(filter={"a": {"$greater": 1}}), tansu.InvalidQuery),
        (dict(filter={"$where": "1"}), tansu.InvalidQuery),
        (dict(filter=[1]), TypeError),
        (dict(filter="name"), TypeError),
        (dict(sort=[("a", 2)]), tansu.InvalidQuery),
        (dict(sort=5), TypeError),
        (dict(sort=[5]), TypeError),
        (dict(skip=-1), tansu.InvalidArgument),
        (dict(skip="1"), TypeError),
        (dict(limit=1.5), TypeError),
        (dict(limit=1 << 70), tansu.InvalidArgument),
        (dict(projection="name"), TypeError),
        (dict(projection={"a": 1, "b": 0}), tansu.InvalidQuery),
        (dict(hint="none"), tansu.InvalidQuery),
        (dict(collation="none"), tansu.InvalidQuery),
        (dict(max_time_ms=-5), tansu.InvalidArgument),
        (dict(batch_size=-1), tansu.InvalidArgument),
        (dict(max_memory=1), tansu.InvalidQuery),
    ],
)
def test_find_with_bad_arguments(people: tansu.Collection, arguments: Any, error: Any) -> None:
    with pytest.raises(error):
        list(people.find(**arguments))
    if not isinstance(arguments.get("filter"), (list, str)) and arguments.keys().isdisjoint(["limit", "batch_size"]):
        with pytest.raises(error):
            people.find_one(**arguments)


def test_errors_say_what_and_where(people: tansu.Collection) -> None:
    with pytest.raises(tansu.InvalidQuery) as raised:
        people.find_one({"$or": [{"age": 3}, {"age": {"$not": {"$greater": 5}}}]})
    assert raised.value.context == "$or.1.age.$not.$greater"
    assert raised.value.message == str(raised.value) and raised.value.status == "INVALID_QUERY"


def test_cursor(people: tansu.Collection) -> None:
    cursor = people.find(batch_size=1)
    assert cursor.alive and cursor.collection == people
    assert cursor.next() == ADA
    people.delete_many({})
    assert next(cursor) == ALAN  # of the snapshot
    with pytest.raises(tansu.InvalidState):
        cursor.sort("a")
    with pytest.raises(tansu.InvalidState):
        cursor.batch_size(5)
    assert cursor.to_list() == [GRACE] and not cursor.alive and list(cursor) == []
    with pytest.raises(StopIteration):
        cursor.next()
    assert list(cursor.rewind()) == []
    with cursor.clone() as other:
        assert other.alive
    assert not other.alive and list(other) == []


def test_a_text_is_no_list_of_names(db: tansu.Database) -> None:
    for call in (
        lambda: db.watch("people"),
        lambda: db.dump(io.BytesIO(), collections="people"),
        lambda: db.c.create_index("**", only="name"),
        lambda: db.c.create_index("**", except_paths="name"),
        lambda: db.c.find().to_list(1.5),
    ):
        with pytest.raises(TypeError):
            call()


def test_an_option_is_given_once(db: tansu.Database) -> None:
    with pytest.raises(tansu.InvalidArgument):
        db.c.find(sort=[("n", 1), ("n", -1)])
    with pytest.raises(tansu.InvalidArgument):
        db.c.create_index([("n", 1), ("m", 1), ("n", -1)])
    with pytest.raises(tansu.InvalidArgument):
        db.c.create_index("n", partial_filter={"a": 1}, partialFilterExpression={"a": 2})
    with pytest.raises(TypeError):
        db.c.find_one_and_update({}, {"$set": {"a": 1}}, return_document="before")  # type: ignore[arg-type]


def test_a_dump_to_a_pipe_that_is_full_fails(db: tansu.Database) -> None:
    db.c.insert_many({"_id": i, "text": "x" * 1000} for i in range(1000))
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with open(writing, "wb", buffering=0) as file, pytest.raises(BlockingIOError):
        db.dump(file)
    os.close(reading)


def test_a_cursor_is_alive_until_its_last_document_is_read(db: tansu.Database) -> None:
    db.c.insert_many({"_id": i} for i in range(10))
    cursor = db.c.find()
    found = []
    while cursor.alive:
        with contextlib.suppress(StopIteration):
            found.append(next(cursor)["_id"])
    assert found == list(range(10))
    cursor = db.c.find()
    next(cursor)
    cursor.close()
    assert not cursor.alive


def test_cursor_to_list(people: tansu.Collection) -> None:
    cursor = people.find()
    assert ids(cursor.to_list(2)) == [1, 2] and ids(cursor.to_list(2)) == [3] and cursor.to_list() == []
    with pytest.raises(ValueError):
        cursor.to_list(0)


def test_cursor_over_many_batches(db: tansu.Database) -> None:
    wanted = [{"_id": i, "text": "x" * (i % 3000)} for i in range(3000)]
    db.c.insert_many(wanted)
    for size in (0, 1, 7, 10000):
        assert list(db.c.find(batch_size=size)) == wanted
    large = [{"_id": i, "text": "x" * (3 << 20)} for i in range(3000, 3003)]
    db.c.insert_many(large)
    assert list(db.c.find({"_id": {"$gte": 3000}})) == large


def test_cursor_cancel_and_close(people: tansu.Collection) -> None:
    cursor = people.find(batch_size=1)
    next(cursor)
    cursor.cancel()
    with pytest.raises(tansu.Cancelled):
        next(cursor)
    cursor.close()
    cursor.close()
    cursor.cancel()
    assert list(cursor) == []


def test_counts_and_distinct(people: tansu.Collection) -> None:
    assert people.count_documents({}) == people.estimated_document_count() == 3
    assert people.count_documents({"age": {"$gt": 40}}) == 2
    assert people.count_documents({}, skip=1, limit=1) == 1
    assert people.distinct("tags") == ["x", "y"] == people.find().distinct("tags")
    assert people.distinct("age", {"tags": "x"}) == [36]
    assert people.distinct("age", limit=2) == [36, 41]
    assert people.database.none.count_documents() == people.database.none.estimated_document_count() == 0
    assert people.database.none.distinct("a") == []
    for wrong in (5, None, "a\0b"):
        with pytest.raises((TypeError, tansu.InvalidArgument)):
            people.distinct(wrong)  # type: ignore[arg-type]
    with pytest.raises(tansu.InvalidQuery):
        people.count_documents({"a": {"$greater": 1}})


def test_explain(people: tansu.Collection) -> None:
    people.create_index("age")
    plan = people.find({"age": {"$gt": 40}}).hint("age_1").explain()
    assert plan["plan"]["index"] == "age_1" and plan["returned"] == 2
    assert people.explain({"age": 5}, hint=False)["plan"]["kind"] == "scan"


def test_timeout(db: tansu.Database) -> None:
    db.c.insert_many({"_id": i, "a": list(range(50))} for i in range(2000))
    slow = {"$or": [{"a": {"$elemMatch": {"$gt": 60 + i, "$lt": 70 + 2 * i}}} for i in range(100)]}
    with pytest.raises(tansu.Timeout):
        db.c.count_documents(slow, max_time_ms=1)
    with pytest.raises(tansu.Timeout):
        db.c.find(slow).max_time_ms(1).to_list()


# ---- Aggregate ----


def test_aggregate_documents(people: tansu.Collection) -> None:
    pipeline: Any = [{"$match": {"age": {"$gt": 10}}}, {"$match": {"tags": "y"}}, {"$sort": {"age": -1}}, {"$limit": 1}]
    assert list(people.aggregate(pipeline)) == [ALAN]
    assert list(people.aggregate([{"$skip": 1}, {"$limit": 1}, {"$project": {"name": 1}}])) == [{"_id": 2, "name": "Alan"}]
    assert list(people.aggregate([{"$match": {"tags": "y"}}, {"$sort": {"age": 1}}, {"$count": "n"}])) == [{"n": 2}]
    assert list(people.aggregate([{"$match": {"tags": "z"}}, {"$count": "n"}])) == []
    assert list(people.aggregate([])) == [ADA, ALAN, GRACE]


def test_aggregate_groups(db: tansu.Database) -> None:
    db.sales.insert_many(
        {"_id": i, "shop": "ab"[i % 2], "size": i % 3 or None, "price": i, "at": datetime.datetime(2026, 1 + i // 3, 5)}
        for i in range(6)
    )

    def run(*stages: Any) -> Any:
        return list(db.sales.aggregate(list(stages)))

    assert run({"$group": {"_id": "$shop", "n": {"$sum": 1}, "most": {"$max": "$price"}}}, {"$sort": {"n": 1, "_id": -1}}) == [
        {"_id": "b", "n": 3, "most": 5},
        {"_id": "a", "n": 3, "most": 4},
    ]
    assert run({"$match": {"price": {"$gt": 3}}}, {"$group": {"_id": None, "sum": {"$sum": "$price"}, "n": {"$count": {}}}}) == [
        {"_id": None, "sum": 9, "n": 2}
    ]
    assert run(
        {"$group": {"_id": {"shop": "$shop", "size": "$size"}, "all": {"$addToSet": "$price"}}},
        {"$sort": {"_id.size": -1, "_id.shop": 1}},
        {"$skip": 1},
        {"$limit": 2},
    ) == [{"_id": {"shop": "b", "size": 2}, "all": [5]}, {"_id": {"shop": "a", "size": 1}, "all": [4]}]
    month = {"$dateTrunc": {"date": "$at", "unit": "month"}}
    assert run({"$group": {"_id": month, "first": {"$first": "$price"}}}) == [
        {"_id": datetime.datetime(2026, 1, 1), "first": 0},
        {"_id": datetime.datetime(2026, 2, 1), "first": 3},
    ]
    assert db.sales.group({"n": {"$count": True}}, "shop", {"price": {"$lt": 3}}, sort={"n": -1}, limit=1) == [
        {"shop": "a", "n": 2}
    ]


def test_aggregate_stages(db: tansu.Database, people: tansu.Collection) -> None:
    db.pets.insert_many([{"_id": "Rex", "owner": 1, "tags": ["x", "y"]}, {"_id": "Tom", "owner": 3, "tags": []}])
    owners = [
        {"$lookup": {"from": "people", "localField": "owner", "foreignField": "_id", "as": "owner"}},
        {"$unwind": "$tags"},
        {"$project": {"name": {"$first": "$owner.name"}, "tag": {"$toUpper": "$tags"}}},
    ]
    assert list(db.pets.aggregate(owners, batch_size=1)) == [
        {"_id": "Rex", "name": "Ada", "tag": "X"},
        {"_id": "Rex", "name": "Ada", "tag": "Y"},
    ]
    older: Any = [{"$match": {"$expr": {"$gt": ["$age", "$$age"]}}}, {"$count": "n"}]
    assert people.aggregate(older, let={"age": 40}).to_list() == [{"n": people.count_documents({"age": {"$gt": 40}})}]
    # Its documents are of the state at its beginning.
    cursor = people.aggregate([{"$project": {"name": 1}}], batch_size=1)
    people.delete_many({})
    assert len(list(cursor)) == 3 and not cursor.alive


def test_aggregate_that_writes(db: tansu.Database, people: tansu.Collection) -> None:
    with pytest.raises(RuntimeError), db.transaction():
        assert list(people.aggregate([{"$out": "copy"}])) == []
        assert db["copy"].count_documents() == 3
        raise RuntimeError
    assert db["copy"].count_documents() == 0
    assert list(people.aggregate([{"$match": {"_id": 1}}, {"$merge": "copy"}])) == []
    assert list(db["copy"].find()) == [ADA]
    with db.snapshot(), pytest.raises(tansu.Error):
        people.aggregate([{"$out": "copy"}])
    assert list(db["copy"].find()) == [ADA]


@pytest.mark.parametrize(
    "pipeline",
    [[{"$none": 1}], [{"$match": {"$none": 1}}], [{"$group": {"_id": None, "n": {"$none": 1}}}], [{}], [{"$match": 5}], [{"$group": {}}]]
    + [[{"$count": ""}], [{"a": 1, "b": 2}], [{"$out": "a"}, {"$limit": 1}], [5]],
)
def test_pipelines_that_are_not_allowed(people: tansu.Collection, pipeline: Any) -> None:
    with pytest.raises(tansu.InvalidQuery):
        people.aggregate(pipeline)


@pytest.mark.parametrize("pipeline", [{}, "x", None, 5, {"$match": {}}, iter([])])
def test_pipelines_that_are_none(people: tansu.Collection, pipeline: Any) -> None:
    with pytest.raises(TypeError):
        people.aggregate(pipeline)


# ---- Update and delete ----


def test_update(people: tansu.Collection) -> None:
    assert people.update_one({"tags": "y"}, {"$inc": {"age": 1}}) == (1, 1, None)
    assert people.update_many({}, {"$set": {"seen": True}}) == (3, 3, None)
    assert people.update_many({}, {"$set": {"seen": True}}).modified_count == 0
    assert people.update_one({}, {"$set": {"first": 1}}, sort={"age": -1}).matched_count == 1
    assert people.find_one({"first": 1})["_id"] == 3
    done = people.update_one({"_id": 9, "name": "New"}, {"$set": {"age": 1}}, upsert=True)
    assert done == (0, 0, 9) and people.get(9) == {"_id": 9, "name": "New", "age": 1}
    assert isinstance(people.update_many({"x": 1}, {"$set": {"a": 1}}, upsert=True).upserted_id, ObjectId)
    people.update_one({"_id": 1}, {"$set": {"tags.$[t]": "z"}}, array_filters=[{"t": "x"}])
    assert people.get(1)["tags"] == ["z", "y"]  # type: ignore[index]


def test_update_by_a_pipeline(people: tansu.Collection) -> None:
    assert people.update_many({"_id": {"$lt": 3}}, [{"$set": {"age": {"$add": ["$age", 1]}}}, {"$unset": "tags"}]).modified_count == 2
    assert people.get(1) == {"_id": 1, "name": "Ada", "age": ADA["age"] + 1}
    found = people.find_one_and_update({"_id": 3}, [{"$set": {"age": 5}}], return_document=tansu.ReturnDocument.AFTER)
    assert found is not None and found["age"] == 5


@pytest.mark.parametrize(
    "filter, update, error",
    [
        ({}, {"a": 1}, tansu.InvalidQuery),
        ({}, {}, tansu.InvalidQuery),
        ({}, {"$inc": {"name": 1}}, tansu.InvalidQuery),
        ({}, {"$none": {"name": 1}}, tansu.InvalidQuery),
        ({}, [{"$none": {"a": 1}}], tansu.InvalidQuery),
        ({}, None, TypeError),
        (None, {"$set": {"a": 1}}, TypeError),
        ({"_id": 1}, {"$set": {"_id": 2}}, tansu.InvalidId),
        ({}, {"$set": {"a": 1, "a.b": 2}}, tansu.InvalidQuery),
    ],
)
def test_updates_that_are_not_allowed(people: tansu.Collection, filter: Any, update: Any, error: Any) -> None:
    for call in (people.update_one, people.update_many, people.find_one_and_update):
        with pytest.raises(error):
            call(filter, update)
    assert list(people.find()) == [ADA, ALAN, GRACE]


def test_replace(people: tansu.Collection) -> None:
    assert people.replace_one({"name": "Ada"}, {"a": 1}) == (1, 1, None)
    assert people.get(1) == {"_id": 1, "a": 1}
    assert people.replace_one({"_id": 9}, {"a": 1}).matched_count == 0
    assert people.replace_one({"_id": 9}, {"a": 1}, upsert=True).upserted_id == 9
    assert people.get(9) == {"_id": 9, "a": 1}
    with pytest.raises(tansu.InvalidId):
        people.replace_one({"_id": 1}, {"_id": 2})
    with pytest.raises(tansu.Error):
        people.replace_one({"_id": 1}, {"$set": {"a": 1}})
    with pytest.raises(TypeError):
        people.replace_one({"_id": 1}, [1])  # type: ignore[arg-type]


def test_find_one_and(people: tansu.Collection) -> None:
    after = tansu.ReturnDocument.AFTER
    assert people.find_one_and_update({}, {"$inc": {"age": 1}}, sort={"age": -1}, projection={"age": 1}) == {"_id": 3, "age": 85}
    assert people.find_one_and_update({"_id": 3}, {"$inc": {"age": 1}}, ["age"], return_document=after) == {"_id": 3, "age": 87}
    assert people.find_one_and_replace({"_id": 3}, {"a": 1}, return_document=after) == {"_id": 3, "a": 1}
    assert people.find_one_and_replace({"_id": 8}, {"a": 1}, upsert=True) is None
    assert people.find_one_and_delete({"_id": 8}) == {"_id": 8, "a": 1}
    assert people.find_one_and_delete({"_id": 8}) is None
    assert people.find_one_and_update({"_id": 8}, {"$set": {"a": 1}}) is None


def test_delete(people: tansu.Collection) -> None:
    assert people.delete_one({"tags": "y"}).deleted_count == 1
    assert ids(people.find()) == [2, 3]
    assert people.delete_one({}, sort={"age": -1}).deleted_count == 1
    assert people.delete_many({}).deleted_count == 1
    assert people.delete_many({}).deleted_count == 0
    for call in (people.delete_one, people.delete_many, people.find_one_and_delete):
        with pytest.raises(TypeError):
            call(None)  # type: ignore[arg-type]


# ---- Indexes and collections ----


def test_indexes(people: tansu.Collection) -> None:
    assert people.create_index("age") == "age_1" == people.create_index([("age", 1)])
    assert people.create_index([("name", 1), ("age", -1)]) == "name_1_age_-1"
    assert people.create_index({"tags": 1}, name="t", sparse=True, max_entries=50) == "t"
    assert people.create_index("$**", name="all", except_paths=["name"]) == "all"
    assert people.create_index("name", "ci", case_insensitive=True, partialFilterExpression={"age": {"$gt": 40}}) == "ci"
    information = people.index_information()
    assert sorted(information) == ["age_1", "all", "ci", "name_1_age_-1", "t"]
    assert information["t"]["sparse"] and information["t"]["maxEntries"] == 50
    assert information["all"]["keys"] == {"**": 1} and information["all"]["except"] == ["name"]
    assert information["ci"]["caseInsensitive"] and information["ci"]["partialFilter"] == {"age": {"$gt": 40}}
    assert ids(people.find({"age": 41}, hint=[("age", 1)])) == ids(people.find({"age": 41}).hint("age_1")) == [2]
    people.drop_index([("age", 1)])
    people.drop_index("t")
    with pytest.raises(tansu.NotFound):
        people.drop_index("t")
    people.drop_indexes()
    assert list(people.list_indexes()) == [] == list(people.database.none.list_indexes())


def test_documents_expire(db: tansu.Database) -> None:
    past = datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc)
    assert db.c.create_index("at", expireAfterSeconds=3600) == "at_1"
    assert db.c.index_information()["at_1"]["expireAfterSeconds"] == 3600
    assert db.expire() == 0
    # The pass that the new index asks for may come after the first documents, and remove them itself.
    db.c.insert_many([{"_id": 1, "at": past}, {"_id": 2, "at": [past, None]}, {"_id": 3, "at": "never"}])
    assert 0 <= db.expire() <= 2
    assert ids(db.c.find({})) == [3]
    with pytest.raises(tansu.InvalidIndex):
        db.c.create_index("b", expireAfterSeconds=1 << 31)
    with pytest.raises(tansu.InvalidIndex):
        db.c.create_index([("a", 1), ("b", 1)], expireAfterSeconds=1)


def test_unique_index(people: tansu.Collection) -> None:
    people.create_index("name", unique=True)
    with pytest.raises(tansu.NotUnique) as raised:
        people.insert_one({"name": "Ada"})
    assert isinstance(raised.value, tansu.DuplicateKey) and raised.value.context == "name_1"
    with pytest.raises(tansu.NotUnique):
        people.create_index("none", unique=True)


def test_declared_index(db: tansu.Database) -> None:
    db.c.create_index("a", unique=True, declare=True)
    db.c.insert_one({"a": 1})
    db.c.drop()
    db.c.insert_one({"a": 1})
    with pytest.raises(tansu.NotUnique):
        db.c.insert_one({"a": 1})


@pytest.mark.parametrize(
    "arguments, error",
    [
        (dict(keys="a", name="x" * 121), tansu.InvalidName),
        (dict(keys="a", name="a\0b"), tansu.InvalidName),
        (dict(keys=[]), tansu.InvalidIndex),
        (dict(keys=[("a", "text")], unique=True), tansu.InvalidIndex),
        (dict(keys=5), TypeError),
        (dict(keys="**", unique=True), tansu.InvalidIndex),
        (dict(keys="a", only=["b"]), tansu.InvalidIndex),
        (dict(keys="a", max_entries=0), tansu.InvalidIndex),
        (dict(keys="a", partial_filter={"b": {"$mod": [2, 0]}}), tansu.InvalidIndex),
        (dict(keys="a", progress=5), TypeError),
    ],
)
def test_indexes_that_are_not_allowed(people: tansu.Collection, arguments: Any, error: Any) -> None:
    with pytest.raises(error):
        people.create_index(**arguments)


def test_collections(db: tansu.Database) -> None:
    db.b.insert_one({})
    db["a.b"].insert_one({})
    assert db.list_collection_names() == ["a.b", "b"]
    renamed = db.b.rename("c")
    assert renamed == db.c and renamed != db.b and hash(renamed) == hash(db["c"]) and renamed.name == "c"
    with pytest.raises(tansu.Exists):
        renamed.rename("a.b")
    db.drop_collection("c")
    db.drop_collection(db["a.b"])
    with pytest.raises(tansu.NotFound):
        db.c.drop()
    assert list(db.list_collections()) == []
    with pytest.raises(TypeError):
        db.fnid({})
    with pytest.raises(AttributeError):
        db._private


@pytest.mark.parametrize("name", ["", "$a", "a\0b", "a\nb", "x" * 121, "\ud800"])
def test_names_that_are_not_allowed(db: tansu.Database, name: str) -> None:
    with pytest.raises(tansu.InvalidName):
        db[name].insert_one({})
    with pytest.raises(tansu.InvalidName):
        list(db[name].find())


def test_names_that_are_not_text(db: tansu.Database) -> None:
    for wrong in (5, b"a", None):
        with pytest.raises(TypeError):
            db[wrong]  # type: ignore[index]


def test_options_of_a_collection(db: tansu.Database) -> None:
    pets = db.create_collection("pets", validator={"required": ["name"], "properties": {"age": {"minimum": 0}}})
    assert pets.options()["validator"]["required"] == ["name"]
    with pytest.raises(tansu.InvalidDocument) as raised:
        pets.insert_one({"name": "Rex", "age": -1})
    assert raised.value.context == "age: minimum"
    db.create_collection("pets", validator=False, timestamps=True)
    pets.insert_one({"age": -1})
    assert isinstance(pets.find_one()["createdAt"], datetime.datetime)  # type: ignore[index]
    assert db.none.options() == {}
    with pytest.raises(tansu.InvalidQuery):
        db.create_collection("x", validator={"none": {"$none": 1}})
    with pytest.raises(tansu.InvalidQuery):
        db.create_collection("x", validator={"required": ["a"], "none": 1})


def test_validation_levels() -> None:
    seen: List[Any] = []
    with tansu.open(log=seen.append) as db:
        pets = db.create_collection("pets", validator={"age": {"$gte": 0}}, validation_level="warn")
        pets.insert_one({"_id": 1, "age": -1})
        assert [one.kind for one in seen] == ["validation"]
        assert (seen[0].status, seen[0].collection, seen[0].query) == ("INVALID_DOCUMENT", "pets", {"_id": 1})
        assert (seen[0].hints["path"], seen[0].hints["rule"]) == ("age", "$gte")
        assert db.stats()["validationWarnings"] == 1
        db.create_collection("pets", validation_level="moderate")
        pets.update_one({"_id": 1}, {"$set": {"age": -2}})
        with pytest.raises(tansu.InvalidDocument) as raised:
            pets.insert_one({"age": -1})
        assert raised.value.context == "age: $gte"
        db.create_collection("pets", validation_action="warn")
        assert pets.options()["validationLevel"] == "warn"
        with pytest.raises(tansu.InvalidDocument):
            db.create_collection("pets", validation_level="strict")


def test_references(people: tansu.Collection) -> None:
    db = people.database
    cars = db.create_collection("cars", references=[{"path": "owner", "to": "people", "onDelete": "deny"}])
    cars.insert_many([{"_id": 1, "owner": 2}, {"_id": 2, "owner": 99}])
    assert ids(cars.find({"owner.name": "Alan"})) == [1]
    with pytest.raises(tansu.Referenced):
        people.delete_one({"_id": 2})
    assert [one["name"] for one in db.referrers("people")] == ["cars"]
    assert db.dangling_references("cars", limit=5)["references"][0]["value"] == 99
    assert db.dangling_references(repair=True)["removed"] == 0


# ---- Codecs ----


class Money:
    def __init__(self, cents: int) -> None:
        self.cents = cents


class MoneyCodec(TypeCodec):
    python_type = Money
    bson_type = Int64

    def transform_python(self, value: Money) -> Int64:
        return Int64(value.cents)

    def transform_bson(self, value: Int64) -> Money:
        return Money(int(value))


def test_codec_options(db: tansu.Database) -> None:
    key = uuid.uuid4()
    options: Any = CodecOptions(
        tz_aware=True, uuid_representation=UuidRepresentation.STANDARD, type_registry=TypeRegistry([MoneyCodec()])
    )
    typed = db.get_collection("c", options)
    typed.insert_one({"_id": key, "at": datetime.datetime(2026, 1, 1), "price": Money(5)})
    found = typed.find_one(key)
    assert found["price"].cents == 5 and found["at"].tzinfo is not None  # type: ignore[index]
    assert isinstance(db.c.find_one()["_id"], Binary)  # type: ignore[index]
    with pytest.raises(ValueError):
        db.c.get(key)
    with tansu.open(codec_options=options) as other:
        other.c.insert_one({"_id": key})
        assert other.c.find_one() == {"_id": key}


def test_raw_documents(people: tansu.Collection) -> None:
    raw = people.with_options(CodecOptions(document_class=RawBSONDocument))
    found = list(raw.find())
    assert all(isinstance(document, RawBSONDocument) for document in found) and found[0]["name"] == "Ada"
    people.drop()
    raw.insert_many(found)  # type: ignore[arg-type]
    assert list(people.find()) == [ADA, ALAN, GRACE]
    with pytest.raises(tansu.InvalidDocument):
        raw.insert_one(RawBSONDocument(bson.encode({"a": 1})))  # type: ignore[arg-type]


# ---- Transactions ----


def test_transaction(people: tansu.Collection) -> None:
    db = people.database
    with db.transaction() as transaction:
        people.delete_one({"_id": 1})
        db.log.insert_one({"_id": 1})
        assert people.count_documents({}) == 2
    assert transaction.sequence and people.count_documents({}) == 2 and db.log.count_documents({}) == 1
    with db.transaction() as transaction:
        people.find_one(2)
    assert transaction.sequence == 0


def test_a_block_that_raises_is_rolled_back(people: tansu.Collection) -> None:
    db = people.database
    with pytest.raises(ZeroDivisionError):
        with db.transaction():
            people.delete_many({})
            1 / 0
    assert people.count_documents({}) == 3
    with db.transaction() as transaction:
        people.delete_many({})
        transaction.rollback()
    assert people.count_documents({}) == 3 and transaction.sequence is None


def test_a_failed_call_leaves_the_transaction(people: tansu.Collection) -> None:
    with people.database.transaction():
        people.insert_one({"_id": 4})
        with pytest.raises(tansu.Exists):
            people.insert_many([{"_id": 5}, {"_id": 4}])
        people.insert_one({"_id": 6})
    assert ids(people.find()) == [1, 2, 3, 4, 6]


def test_savepoints(people: tansu.Collection) -> None:
    db = people.database
    with db.transaction():
        people.insert_one({"_id": 4})
        with pytest.raises(ZeroDivisionError):
            with db.transaction():
                people.insert_one({"_id": 5})
                with db.transaction():
                    people.insert_one({"_id": 6})
                1 / 0
        with db.transaction():
            people.insert_one({"_id": 7})
            with pytest.raises(tansu.InvalidState):
                people.create_index("age")
    assert ids(people.find()) == [1, 2, 3, 4, 7]


def test_cursors_of_a_transaction(people: tansu.Collection) -> None:
    before = people.find(batch_size=1)
    next(before)
    with people.database.transaction():
        inside = people.find(batch_size=1)
        next(inside)
        people.insert_one({"_id": 4})
        assert ids(inside) == [2, 3]
        left = people.find(batch_size=1)
        assert ids(people.find(sort={"_id": -1})) == [4, 3, 2, 1]
        next(left)
        with pytest.raises(ZeroDivisionError):
            with people.database.transaction():
                undone = people.find(batch_size=1)
                next(undone)
                1 / 0
        with pytest.raises(tansu.InvalidState):
            next(undone)
    with pytest.raises(tansu.InvalidState):
        list(left)
    assert ids(before) == [2, 3]


def test_snapshot(people: tansu.Collection) -> None:
    db = people.database
    with db.snapshot():
        other = threading.Thread(target=lambda: people.delete_many({}))
        other.start()
        other.join()
        assert people.count_documents({}) == 3
        with db.snapshot():
            assert people.get(1) == ADA
        with pytest.raises(tansu.ReadOnly):
            people.insert_one({})
        with pytest.raises(tansu.ReadOnly):
            with db.transaction():
                pass
    assert people.count_documents({}) == 0


def test_transactions_of_two_databases(people: tansu.Collection) -> None:
    with tansu.open() as other:
        with people.database.transaction():
            with other.transaction():
                people.delete_one({"_id": 1})
                other.c.insert_one({})
                with people.database.transaction() as inner:
                    people.delete_one({"_id": 2})
                    inner.rollback()
        assert other.c.count_documents() == 1 and ids(people.find()) == [2, 3]


def test_misuse_of_transactions(people: tansu.Collection) -> None:
    db = people.database
    transaction = db.transaction()
    with transaction:
        with pytest.raises(tansu.InvalidState):
            transaction.__enter__()
    with pytest.raises(tansu.InvalidState):
        transaction.__enter__()
    with pytest.raises(tansu.InvalidArgument):
        db.transaction(durability="none")
    with db.transaction() as cancelled:
        cancelled.cancel()
        with pytest.raises(tansu.Cancelled):
            people.delete_many({})
        cancelled.rollback()
    assert people.count_documents({}) == 3
    with pytest.raises(tansu.Cancelled):
        with db.transaction() as cancelled:
            cancelled.cancel()
    people.insert_one({})


def test_second_writer_of_a_thread(db: tansu.Database) -> None:
    with db.transaction():
        with pytest.raises(tansu.Busy):  # it would wait for itself
            contextvars.Context().run(lambda: db.c.insert_one({}))


# ---- Changes ----


def test_watch(people: tansu.Collection) -> None:
    db = people.database
    with db.watch(before=True) as stream, people.watch(since=0) as replay:
        assert stream.try_next() is None
        people.update_one({"_id": 1}, {"$set": {"age": 37}})
        with db.transaction():
            db.log.insert_one({"_id": 1})
            people.delete_one({"_id": 2})
        people.rename("persons")
        found = [next(stream) for _ in range(5)]
        kinds = ["update", "create_collection", "insert", "remove", "rename_collection"]
        assert sorted(change.kind for change in found) == sorted(kinds)
        assert found[0].id == 1 and found[0].last
        assert found[0].before["age"] == 36 and found[0].after["age"] == 37  # type: ignore[index]
        removed = next(change for change in found if change.kind == "remove")
        assert removed.before == ALAN and removed.after is None and removed.collection == "people"
        assert found[-1].new_name == "persons"
        assert [change.kind for change in [next(replay) for _ in range(4)]] == ["create_collection"] + ["insert"] * 3
        resumed = db.watch(since=found[0].sequence)
        assert next(resumed).sequence > found[0].sequence
    assert list(stream) == []
    with pytest.raises(tansu.NotFound):
        db.watch(since=1000)
    with pytest.raises(TypeError):
        db.watch(since="x")  # type: ignore[arg-type]
    with pytest.raises(tansu.InvalidName):
        db.watch([""])


def test_watch_ends_with_the_database(folder: Path) -> None:
    db = tansu.open(folder)
    stream = db.watch()
    found: List[Any] = []
    thread = threading.Thread(target=lambda: found.extend(stream))
    thread.start()
    db.c.insert_one({"_id": 1})
    while len(found) < 2:
        pass
    db.close()
    thread.join(10)
    assert not thread.is_alive() and found[-1].after == {"_id": 1}
    with pytest.raises(tansu.Closed):
        stream.try_next()


# ---- Maintenance ----


def test_open_options(folder: Path) -> None:
    with pytest.raises(tansu.NotFound):
        tansu.open(folder, must_exist=True)
    with tansu.open(folder, durability="process", busy_timeout_ms=5, segment_size=1 << 20, read_mode="unguarded") as db:
        assert db.stats()["durability"] == "process"
        db.c.insert_one({"_id": 1})
        with pytest.raises(tansu.Locked):
            tansu.open(folder)
        with tansu.open(str(folder), allow_writer=True) as reader:
            assert reader.c.count_documents() == 1
            db.c.insert_one({"_id": 2})
            assert reader.c.count_documents() == 1
            assert reader.refresh() == (True, db.stats()["sequence"]) and reader.c.count_documents() == 2
            with pytest.raises(tansu.ReadOnly):
                reader.c.insert_one({})
    with tansu.open(os.fspath(folder), read_only=True) as db:
        assert db.c.count_documents() == 2 and str(folder) in repr(db)
    assert repr(db) == "<tansu.Database, closed>"


@pytest.mark.parametrize(
    "options, error",
    [
        (dict(store="none"), tansu.InvalidArgument),
        (dict(durability="none"), tansu.InvalidArgument),
        (dict(durability=[]), (tansu.InvalidArgument, TypeError)),
        (dict(busy_timeout_ms=-1), tansu.InvalidArgument),
        (dict(busy_timeout_ms=1 << 40), tansu.InvalidArgument),
        (dict(busy_timeout_ms="1"), TypeError),
        (dict(segment_size=5), tansu.InvalidArgument),
        (dict(follow=True), tansu.InvalidArgument),
        (dict(none=1), TypeError),
        (dict(log=5), TypeError),
        (dict(progress=5), TypeError),
        (dict(path="a\0b"), tansu.InvalidArgument),
        (dict(path=5), TypeError),
    ],
)
def test_open_with_bad_options(options: Any, error: Any) -> None:
    with pytest.raises(error):
        tansu.open(**options)


def test_temporary_store(tmp_path: Path) -> None:
    with tansu.open(tmp_path, store="temporary") as db:
        db.c.insert_one({})
        assert list(tmp_path.iterdir())
    assert not [one for one in tmp_path.rglob("*.seg")]


def test_maintenance(folder: Path, tmp_path: Path) -> None:
    seen: List[Any] = []
    with tansu.open(folder) as db:
        db.c.insert_many({"_id": i, "text": "x" * 100} for i in range(1000))
        db.c.delete_many({"_id": {"$lt": 900}})
        db.sync()
        db.checkpoint()
        assert db.verify(lambda done, total: seen.append((done, total)))["documents"] == 100 and seen
        assert db.compact()["bytesAfter"] > 0
        assert db.backup(tmp_path / "folder")["documents"] == 100
        assert db.backup(tmp_path / "file", form="file")["documents"] == 100
        with pytest.raises(tansu.Exists):
            db.backup(tmp_path / "file")
        with pytest.raises(tansu.InvalidArgument):
            db.backup(tmp_path / "x", form="none")
        with db.clone(tmp_path / "clone", durability="process") as copy:
            assert copy.c.count_documents() == 100
        with db.clone() as copy:
            assert copy.c.count_documents() == 100 and copy.stats()["store"] == "memory"
        with pytest.raises(TypeError):
            db.clone(none=1)
    assert tansu.restore(tmp_path / "file", tmp_path / "restored")["documents"] == 100
    assert tansu.repair(tmp_path / "restored", tmp_path / "repaired")["documents"] == 100
    with tansu.open(tmp_path / "folder") as db:
        assert db.c.count_documents() == 100
    with pytest.raises(tansu.NotFound):
        tansu.restore(tmp_path / "none", tmp_path / "y")


def test_dump_and_load(people: tansu.Collection, tmp_path: Path) -> None:
    db = people.database
    people.create_index("age")
    report = db.dump(tmp_path / "all.ndjson")
    assert report["documents"] == 3 and report["indexes"] == 1
    with pytest.raises(FileExistsError):
        db.dump(tmp_path / "all.ndjson")
    file = io.BytesIO()
    assert db.dump(file, collections=["people"], query={"age": {"$gt": 40}}, indexes=False)["documents"] == 2
    with tansu.open() as other:
        assert other.load(tmp_path / "all.ndjson")["documents"] == 3
        assert list(other.people.find()) == [ADA, ALAN, GRACE] and "age_1" in other.people.index_information()
        with pytest.raises(tansu.Exists):
            other.load(io.BytesIO(file.getvalue()))
        assert other.load(io.BytesIO(file.getvalue()), mode="skip")["skipped"] == 2
        assert other.load(io.BytesIO(b'{"_id": 7}\n{"a": 1}'), collection="plain", atomic=True)["documents"] == 2
        with pytest.raises(tansu.InvalidJson) as raised:
            other.load(io.BytesIO(b'{"_id": 8}\n{'), collection="plain")
        assert raised.value.offset == 2
        with pytest.raises(TypeError):
            other.load(io.StringIO("x"), collection="plain")  # type: ignore[arg-type]
        with pytest.raises(FileNotFoundError):
            other.load(tmp_path / "none")


def test_what_callbacks_raise(people: tansu.Collection) -> None:
    db = people.database

    class Full:
        def write(self, data: bytes) -> int:
            raise OSError("no room")

        def read(self, size: int) -> bytes:
            raise KeyError("none")

    def stop(done: int, total: int) -> bool:
        return False

    def fail(done: int, total: int) -> bool:
        raise ZeroDivisionError

    with pytest.raises(OSError, match="no room"):
        db.dump(Full())  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        db.load(Full(), collection="x")  # type: ignore[arg-type]
    with pytest.raises(tansu.Cancelled):
        people.create_index("age", progress=stop)
    with pytest.raises(ZeroDivisionError):
        people.create_index("age", progress=fail)
    assert people.index_information() == {}
    with pytest.raises(tansu.Cancelled):
        db.verify(stop)


def test_callbacks_that_call_back(people: tansu.Collection) -> None:
    db = people.database
    seen: List[Any] = []

    def progress(done: int, total: int) -> None:
        seen.append(people.count_documents({}))
        with pytest.raises(tansu.InvalidState):
            db.close()

    people.create_index("age", progress=progress)
    assert seen and not db.closed


def test_log() -> None:
    seen: List[tansu.SlowOperation] = []
    with tansu.open(log=seen.append, log_all=True) as db:
        db.c.insert_one({"_id": 1})
        list(db.c.find({"_id": 1}))
        with pytest.raises(tansu.InvalidQuery):
            db.c.count_documents({"a": {"$none": 1}})
    kinds = [operation.kind for operation in seen]
    assert "save" in kinds and "find" in kinds
    found = next(operation for operation in seen if operation.kind == "find")
    assert found.collection == "c" and found.query == {"_id": 1} and found.status == "DONE" and found.seconds >= 0
    assert next(operation for operation in seen if operation.kind == "count").status == "INVALID_QUERY"


def test_json_commands(people: tansu.Collection) -> None:
    db = people.database
    assert db.command_json('{"op": "count", "collection": "people"}') == '{"ok": true, "count": 3}'
    assert '"INVALID_JSON"' in db.command_json("{")
    assert '"ok": true' in db.command_json('{"op": "begin"}')  # left open: closing ends it
    with pytest.raises(tansu.InvalidArgument):
        db.command_json("a\0b")
    with pytest.raises(TypeError):
        db.command_json(b"{}")  # type: ignore[arg-type]


def test_errors_are_pickled(people: tansu.Collection) -> None:
    with pytest.raises(tansu.DuplicateKey) as raised:
        people.insert_many([{}, {"_id": 1}])
    copied = pickle.loads(pickle.dumps(raised.value))
    assert type(copied) is tansu.Exists and vars(copied) == vars(raised.value) and str(copied) == str(raised.value)


def test_every_status_has_a_class() -> None:
    names = {code: ffi.string(lib.tansu_status_name(code)).decode() for code in range(10, 200)}
    names = {code: name for code, name in names.items() if name != "UNKNOWN"}
    assert {code: known.status for code, known in errors.BY_CODE.items() if code} == names
    assert all(issubclass(known, tansu.Error) and known.__name__ in tansu.__all__ for known in errors.BY_CODE.values())


def test_every_option_is_a_keyword() -> None:
    members = set(dir(ffi.new("tansu_options *"))) - {"struct_size", "progress_context", "log_context"}
    members = members - {"key_size", "key_kind"} | {"passphrase"}
    assert members == set(inspect.signature(tansu.open).parameters) - {"codec_options"}


def test_keys_of_encrypted_databases(tmp_path: Path) -> None:
    if "libcrypto" not in ffi.string(lib.tansu_optional_libraries()).decode():
        pytest.skip("the engine has no libcrypto")
    with tansu.open(tmp_path / "db", key=bytes(32)) as db:
        db.people.insert_one({"_id": 1})
        assert db.stats()["encrypted"] == "aes-256-gcm"
        db.rekey(passphrase="secret", key_iterations=256001)
        for key in ({}, {"key": bytes(32), "passphrase": "secret"}, {"key": bytes(31)}, {"passphrase": ""}):
            with pytest.raises(tansu.InvalidArgument):
                db.rekey(**key)  # type: ignore[arg-type]
        for iterations in (255999, 1 << 32, -1):
            with pytest.raises(tansu.InvalidArgument):
                db.rekey(passphrase="secret", key_iterations=iterations)
        with pytest.raises(TypeError):
            db.rekey(key="text")  # type: ignore[arg-type]
        with db.clone(tmp_path / "clone", passphrase=b"other") as copy:
            assert copy.people.count_documents() == 1
    with pytest.raises(tansu.Encrypted):
        tansu.open(tmp_path / "db")
    with pytest.raises(tansu.WrongKey):
        tansu.open(tmp_path / "db", key=bytes(32))
    with tansu.open(tmp_path / "db", passphrase="secret") as db:
        assert db.people.count_documents() == 1
    with tansu.open() as db, pytest.raises(tansu.InvalidState):
        db.rekey(key=bytes(32))
