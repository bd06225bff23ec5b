"""The exceptions of the engine: one class for each status of tansu.h.

Besides them, documents that cannot be encoded raise what the module ``bson`` raises (``bson.errors.InvalidDocument``,
``OverflowError`` for integers of more than 64 bits), and arguments of a wrong type ``TypeError``.
"""

from typing import ClassVar, Dict, Tuple, Type


class Error(Exception):
    """A call of the engine failed, and changed nothing."""

    status: ClassVar[str] = ""
    """The permanent name of the status, such as ``NOT_UNIQUE``."""
    code: ClassVar[int] = 0
    """The number of the status in tansu.h."""

    def __init__(self, message: str, context: str = "", offset: int = -1, errno: int = 0) -> None:
        super().__init__(message)
        self.message = message
        """One sentence: what is wrong and what to do about it."""
        self.context = context
        """A path, an operator, a file or a name; may be empty."""
        self.offset = offset
        """The byte at fault in an input or file, or of several documents the index of the one at fault; or -1."""
        self.errno = errno
        """That of the system call that failed, or 0."""

    def __reduce__(self) -> Tuple[Type["Error"], Tuple[str, str, int, int]]:
        return type(self), (self.message, self.context, self.offset, self.errno)


class DuplicateKey(Error):
    """A value that has to be unique is taken: :class:`Exists` or :class:`NotUnique`."""


class OutOfMemory(Error, MemoryError):
    """Memory is exhausted."""

    status, code = "MEMORY", 10


class InvalidArgument(Error, ValueError):
    """An argument is out of range."""

    status, code = "INVALID_ARGUMENT", 11


class Closed(Error):
    """The database is closed."""

    status, code = "CLOSED", 12


class IOFailed(Error):
    """A system call failed; ``errno`` is its."""

    status, code = "IO", 13


class Full(Error):
    """The disk is full."""

    status, code = "FULL", 14


class Locked(Error):
    """Another process, or another handle of this one, has the database open."""

    status, code = "LOCKED", 15


class Busy(Error):
    """The write lock was not released in time, or is held by this thread; or another call excludes this one."""

    status, code = "BUSY", 16


class ReadOnly(Error):
    """A write in a database that was opened read-only, or in a snapshot."""

    status, code = "READ_ONLY", 17


class Corrupt(Error):
    """Stored bytes are not valid; ``context`` and ``offset`` say where."""

    status, code = "CORRUPT", 18


class WrongVersion(Error):
    """The files are of another format than this version reads."""

    status, code = "VERSION", 19


class NotFound(Error):
    """No such database, collection, index or document."""

    status, code = "NOT_FOUND", 20


class Exists(DuplicateKey):
    """The name or the ``_id`` is taken."""

    status, code = "EXISTS", 21


class NotUnique(DuplicateKey):
    """A unique index has an entry with this value; ``context`` is the index."""

    status, code = "NOT_UNIQUE", 22


class InvalidName(Error, ValueError):
    """A name that no collection or index can have."""

    status, code = "INVALID_NAME", 23


class InvalidBson(Error):
    """Bytes that are not a BSON document."""

    status, code = "INVALID_BSON", 24


class InvalidDocument(Error):
    """A document that may not be stored, or violates the collection's validator."""

    status, code = "INVALID_DOCUMENT", 25


class InvalidId(Error):
    """An ``_id`` of a type that is not allowed, or an update that would change one."""

    status, code = "INVALID_ID", 26


class InvalidQuery(Error):
    """An unknown or malformed operator, hint, path or operand; ``context`` is where."""

    status, code = "INVALID_QUERY", 27


class InvalidIndex(Error):
    """An index definition that is not valid."""

    status, code = "INVALID_INDEX", 28


class InvalidJson(Error):
    """Text that is not JSON, or not extended JSON; ``offset`` is the byte or the line."""

    status, code = "INVALID_JSON", 29


class InvalidCommand(Error):
    """A JSON command with an unknown or missing member."""

    status, code = "INVALID_COMMAND", 30


class TooLarge(Error):
    """Over a limit of size, memory or depth."""

    status, code = "TOO_LARGE", 31


class Cancelled(Error):
    """The call was cancelled."""

    status, code = "CANCELLED", 32


class Timeout(Error):
    """The time limit has passed."""

    status, code = "TIMEOUT", 33


class SyncFailed(Error):
    """An fsync failed: the database is read-only until it is opened again."""

    status, code = "SYNC_FAILED", 34


class Unsupported(Error):
    """Understood, but not in this version or build of the engine."""

    status, code = "UNSUPPORTED", 35


class InvalidState(Error):
    """The state of the object forbids the call: it was ended, is used by another call, or is of a parent process."""

    status, code = "INVALID_STATE", 36


class Referenced(Error):
    """Documents refer to what would be removed, by the rule "deny"."""

    status, code = "REFERENCED", 37


class Moved(Error):
    """The database's folder is no longer at its path."""

    status, code = "MOVED", 38


class Encrypted(Error):
    """The database is encrypted, and no key was given."""

    status, code = "ENCRYPTED", 39


class WrongKey(Error):
    """The database is encrypted with another key than the given one."""

    status, code = "WRONG_KEY", 40


def _subclasses(base: Type[Error]) -> Dict[int, Type[Error]]:
    found = {base.code: base}
    for derived in base.__subclasses__():
        found.update(_subclasses(derived))
    return found


BY_CODE = _subclasses(Error)
