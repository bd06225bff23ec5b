"""Tansu, an embedded JSON document database, with the calls of pymongo.

>>> import tansu
>>> with tansu.open() as db:
...     _ = db.people.insert_many([{"_id": 1, "name": "Ada"}, {"_id": 2, "name": "Alan"}])
...     db.people.find_one({"name": "Alan"})
{'_id': 2, 'name': 'Alan'}
"""

from ._engine import Progress, SlowOperation
from ._native import ffi as _ffi
from ._native import lib as _lib
from .changes import Change, ChangeStream
from .collection import Collection, ReturnDocument
from .cursor import CommandCursor, Cursor, Results
from .database import Database, open, repair, restore
from .errors import (
    Busy, Cancelled, Closed, Corrupt, DuplicateKey, Encrypted, Error, Exists, Full, InvalidArgument, InvalidBson,
    InvalidCommand, InvalidDocument, InvalidId, InvalidIndex, InvalidJson, InvalidName, InvalidQuery, InvalidState, IOFailed,
    Locked, Moved, NotFound, NotUnique, OutOfMemory, ReadOnly, Referenced, SyncFailed, Timeout, TooLarge, Unsupported,
    WrongKey, WrongVersion,
)  # fmt: skip
from .results import DeleteResult, InsertManyResult, InsertOneResult, UpdateResult
from .transaction import Transaction

__version__: str = _ffi.string(_lib.tansu_version()).decode()
"""The version of the engine and of this package."""

ASCENDING = 1
DESCENDING = -1

__all__ = [
    "ASCENDING", "Busy", "Cancelled", "Change", "ChangeStream", "Closed", "Collection", "CommandCursor", "Corrupt", "Cursor", "DESCENDING",
    "Database", "DeleteResult", "DuplicateKey", "Encrypted", "Error", "Exists", "Full", "IOFailed", "InsertManyResult",
    "InsertOneResult", "InvalidArgument", "InvalidBson", "InvalidCommand", "InvalidDocument", "InvalidId", "InvalidIndex", "InvalidJson",
    "InvalidName", "InvalidQuery", "InvalidState", "Locked", "Moved", "NotFound", "NotUnique", "OutOfMemory", "Progress",
    "ReadOnly", "Referenced", "Results", "ReturnDocument", "SlowOperation", "SyncFailed", "Timeout", "TooLarge", "Transaction",
    "Unsupported", "UpdateResult", "WrongKey", "WrongVersion", "open", "repair", "restore",
]  # fmt: skip
