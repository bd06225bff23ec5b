"""Transactions, savepoints and snapshots."""

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Optional

from . import _engine, errors
from ._native import ffi, lib

if TYPE_CHECKING:
    from .database import Database

DURABILITIES = {None: 0, "full": 1, "process": 2, "interval": 3}

current: "ContextVar[Optional[Transaction]]" = ContextVar("tansu.transaction", default=None)
"""The innermost transaction of this thread or task, of any database."""


class Transaction:
    """A block of calls that are one commit, as ``Database.transaction`` and ``Database.snapshot`` return it.

    A transaction within another one is a savepoint. A block that raises is rolled back. The calls of this thread (or task of
    asyncio) with the database are part of it, and those of others are not. The cursors of a block are closed at its end.
    """

    def __init__(self, database: "Database", write: bool, durability: Optional[str]) -> None:
        if durability not in DURABILITIES:
            raise errors.InvalidArgument('durability must be "full", "process" or "interval"', "durability")
        self._database = database
        self._write = write
        self._durability = DURABILITIES[durability]
        self._handle: Any = None
        self._outer: Optional[Transaction] = None  # of this or another database
        self._within: Optional[Transaction] = None  # of this database
        self._rollback = False
        self.sequence: Optional[int] = None
        """After the block, the number of the commit; 0 if nothing was changed."""

    def __enter__(self) -> "Transaction":
        if self._handle is not None:
            raise errors.InvalidState("A transaction is entered once; call transaction() again")
        within = self._within = self._database._transaction()
        if within is None:
            holder = ffi.new("native_handle **")
            _engine.run(lib.native_begin, self._database._handle, int(self._write), self._durability, holder)
            self._handle = ffi.gc(holder[0], lib.native_handle_free)
        else:
            if self._write:
                _engine.run(lib.native_savepoint_begin, within._handle)
            self._handle = within._handle
        self._outer = current.get()
        current.set(self)
        return self

    def __exit__(self, kind: object, exception: object, traceback: object) -> None:
        current.set(self._outer)
        keep = kind is None and not self._rollback
        if self._within is None:
            self._end(keep)
        elif self._write:
            try:
                _engine.run(lib.native_savepoint_release if keep else lib.native_savepoint_roll_back, self._handle)
            except (errors.InvalidState, errors.Closed):
                if kind is None:
                    raise

    def _end(self, keep: bool) -> None:
        if not keep:
            lib.native_handle_close(self._handle)
            return
        try:
            call = _engine.perform(lib.native_commit, self._handle)
        except BaseException:
            lib.native_handle_close(self._handle)
            raise
        self.sequence = call.sequence
        _engine.give(call)

    def rollback(self) -> None:
        """Has the block rolled back when it ends, without an exception."""
        self._rollback = True

    def cancel(self) -> None:
        """Cancels the whole transaction, from any thread: the call that runs in it, and later ones, raise Cancelled."""
        handle = self._handle
        if handle is not None:
            lib.native_handle_cancel(handle)
