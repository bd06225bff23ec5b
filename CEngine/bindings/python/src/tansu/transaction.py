"""Transactions, savepoints and snapshots."""

import contextlib
import sys
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, List, Optional, Tuple

from . import _engine, errors
from ._native import ffi, lib

if TYPE_CHECKING:
    from .database import Database

DURABILITIES = {None: 0, "full": 1, "process": 2, "interval": 3}

current: "ContextVar[Optional[Transaction]]" = ContextVar("tansu.transaction", default=None)
"""The innermost transaction of this thread or task, of any database; a new task inherits that of the one that made it."""


def _caller() -> Tuple[int, Any]:
    """This thread and, within asyncio, this task."""
    task, asyncio = None, sys.modules.get("asyncio")
    if asyncio is not None:
        with contextlib.suppress(RuntimeError):  # no loop is running
            task = asyncio.current_task()
    return threading.get_ident(), task


def innermost(database: "Database") -> "Optional[Transaction]":
    """The block of the database that this thread or task has entered last and not left."""
    transaction = current.get()
    if transaction is None:
        return None
    caller = _caller()
    while transaction is not None and not transaction._is_of(database, caller):
        transaction = transaction._outer
    return transaction


class Transaction:
    """A block of calls that are one commit, as ``Database.transaction`` and ``Database.snapshot`` return it.

    A transaction within another one is a savepoint. A block that raises is rolled back. The calls of this thread (or task of
    asyncio) with the database are part of it, and those of others are not, also of tasks and threads that begin in the block. The
    cursors of a block are closed at its end. A block within it that has not ended then, as in a generator that was not read to its
    end, is rolled back.
    """

    def __init__(self, database: "Database", write: bool, durability: Optional[str]) -> None:
        if durability not in DURABILITIES:
            raise errors.InvalidArgument('durability must be "full", "process" or "interval"', "durability")
        self._database = database
        self._write = write
        self._durability = DURABILITIES[durability]
        self._handle: Any = None
        self._outer: Optional[Transaction] = None  # of this or another database
        self._caller: Tuple[int, Any] = (0, None)
        self._ended = False
        self._blocks: List[Transaction] = []  # this and those within it, of one database; the innermost is the last
        self._rollback = False
        self.sequence: Optional[int] = None
        """After the block, the number of the commit; 0 if nothing was changed."""

    def _is_of(self, database: "Database", caller: Tuple[int, Any]) -> bool:
        return self._database is database and self._caller == caller and not self._ended

    def __enter__(self) -> "Transaction":
        if self._handle is not None:
            raise errors.InvalidState("A transaction is entered once; call transaction() again")
        within = innermost(self._database)
        if within is None:
            holder = ffi.new("native_handle **")
            _engine.run(lib.native_begin, self._database._handle, int(self._write), self._durability, holder)
            self._handle = ffi.gc(holder[0], lib.native_handle_free)
        else:
            if self._write:
                _engine.run(lib.native_savepoint_begin, within._handle)
            self._handle, self._blocks = within._handle, within._blocks
        self._blocks.append(self)
        self._caller = _caller()
        self._outer = current.get()
        current.set(self)
        return self

    def __exit__(self, kind: object, exception: object, traceback: object) -> None:
        if current.get() is self:
            current.set(self._outer)
        if self._ended or self._handle is None:
            if kind is None:
                raise errors.InvalidState("The block has ended: it was not entered, or one around it has ended before")
            return
        is_outermost = self._blocks[0] is self
        while self._blocks[-1] is not self:
            inner = self._blocks.pop()
            inner._ended = True
            if inner._write:
                inner._end_savepoint(False, False)
        self._blocks.pop()
        self._ended = True
        keep = kind is None and not self._rollback
        if is_outermost:
            self._end(keep)
        elif self._write:
            self._end_savepoint(keep, kind is None)

    def _end_savepoint(self, keep: bool, raises: bool) -> None:
        try:
            _engine.run(lib.native_savepoint_release if keep else lib.native_savepoint_roll_back, self._handle)
        except (errors.InvalidState, errors.Closed):
            if raises:
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
