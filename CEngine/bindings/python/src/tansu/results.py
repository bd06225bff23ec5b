"""What writes return, as pymongo's results."""

from typing import Any, List, NamedTuple


class InsertOneResult(NamedTuple):
    """Of ``insert_one`` and ``save``."""

    inserted_id: Any
    """The ``_id`` of the document."""


class InsertManyResult(NamedTuple):
    """Of ``insert_many``."""

    inserted_ids: List[Any]
    """The ``_id`` of each document, in order."""


class UpdateResult(NamedTuple):
    """Of ``update_one``, ``update_many`` and ``replace_one``."""

    matched_count: int
    """How many documents matched; 0 when one was inserted."""
    modified_count: int
    """How many of them the update changed."""
    upserted_id: Any
    """The ``_id`` of the document that was inserted, or ``None``."""


class DeleteResult(NamedTuple):
    """Of ``delete_one`` and ``delete_many``."""

    deleted_count: int
    """How many documents matched and were removed; not those that delete rules of references removed."""
