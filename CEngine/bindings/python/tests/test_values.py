"""Documents of any values: through the engine and its JSON, next to pymongo's BSON and extended JSON."""

import datetime
import decimal
import json
from typing import Any

import bson
from bson import Binary, Code, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp, json_util
from hypothesis import assume, given
from hypothesis import strategies as st

import tansu

CANONICAL = json_util.CANONICAL_JSON_OPTIONS

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
keys = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5).filter(
    lambda key: not key.startswith("$")
)
dates = st.datetimes(datetime.datetime(1, 1, 2), datetime.datetime(9999, 12, 30)).map(
    lambda date: date.replace(microsecond=date.microsecond // 1000 * 1000)
)
decimals = st.decimals(allow_nan=False, places=None).map(lambda value: Decimal128(limited(value))) | st.sampled_from(
    [Decimal128(text) for text in ("NaN", "Infinity", "-Infinity", "-0", "0E-6176", "9E+6144", "1.00", "1E+6111")]
)
scalars = st.one_of(
    st.none(), st.booleans(), texts, dates, decimals,
    st.integers(-(1 << 31), (1 << 31) - 1),
    st.integers(-(1 << 63), (1 << 63) - 1).map(Int64),
    st.floats(allow_nan=False),
    st.binary(min_size=12, max_size=12).map(ObjectId),
    st.builds(Binary, st.binary(max_size=9), st.sampled_from([0, 1, 5, 128, 255])),
    st.builds(Regex, st.sampled_from(["", "a", "^b+$", "é"]), st.sampled_from(["", "i", "im"])),
    st.builds(Timestamp, st.integers(0, (1 << 32) - 1), st.integers(0, (1 << 32) - 1)),
    st.sampled_from([MinKey(), MaxKey()]),
    texts.map(Code),
)  # fmt: skip
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=12
)
documents = st.dictionaries(keys.filter(lambda key: key != "_id"), values, max_size=5)


def limited(value: decimal.Decimal) -> decimal.Decimal:
    """A number that a Decimal128 can have."""
    with decimal.localcontext(bson.decimal128.create_decimal128_context()):
        return +value


def same(one: Any, other: Any) -> bool:
    return bson.encode({"": one}) == bson.encode({"": other})


@given(document=documents)
def test_documents_are_kept(document: Any) -> None:
    with tansu.open() as db:
        whole = {"_id": 1, **document}
        db.c.insert_one(whole)
        for found in (db.c.get(1), db.c.find_one(), db.c.get_many([1])[0], db.c.find_one_and_delete({})):
            assert same(found, whole)


@given(document=documents)
def test_json_is_that_of_pymongo(document: Any) -> None:
    with tansu.open() as db:
        whole = {"_id": 1, **document}
        db.c.insert_one(whole)
        request = {"op": "get", "collection": "c", "id": 1, "canonical": True}
        printed = db.command_json(json.dumps(request))
        assert same(json_util.loads(printed, json_options=CANONICAL)["document"], whole)

        text = json_util.dumps(whole, json_options=CANONICAL)
        saved = db.command_json('{"op": "save", "collection": "d", "documents": [%s]}' % text)
        assert json.loads(saved)["ok"], saved
        assert same(db.d.get(1), whole)


@given(first=scalars, second=scalars)
def test_a_value_finds_itself(first: Any, second: Any) -> None:
    """By equality, with an index and without, and in ranges that agree with the order of a sort."""
    assume(not isinstance(first, Regex) and not isinstance(second, Regex))
    with tansu.open() as db:
        db.c.insert_many([{"_id": 1, "v": first}, {"_id": 2, "v": second}])
        for _ in range(2):
            equal = db.c.count_documents({"v": {"$eq": first}}) == 2
            assert db.c.find_one({"v": {"$eq": first}})["_id"] == 1  # type: ignore[index]
            order = [document["_id"] for document in db.c.find(sort="v")]
            less = db.c.count_documents({"_id": 2, "v": {"$lt": first}}) == 1
            more = db.c.count_documents({"_id": 2, "v": {"$gt": first}}) == 1
            assert less + more + equal <= 1
            assert order == ([2, 1] if less else [1, 2] if equal or more else order)
            assert len(db.c.distinct("v")) == 2 - equal
            db.c.create_index("v")
