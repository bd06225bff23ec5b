"""Nothing that a program does with the objects crashes the interpreter: threads, forks, signals, and garbage."""

import asyncio
import contextlib
import gc
import os
import queue
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any, Callable, Iterator, List

import pytest

import tansu

SEED = int(os.environ.get("TANSU_SEED", "1"))


def run_threads(*targets: Callable[[], Any]) -> List[Any]:
    """Runs functions at once; raises what one of them raised."""
    results: "queue.Queue[Any]" = queue.Queue()

    def guarded(target: Callable[[], Any]) -> None:
        try:
            results.put((None, target()))
        except BaseException as raised:
            results.put((raised, None))

    threads = [threading.Thread(target=guarded, args=(target,)) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()
    found = []
    while not results.empty():
        raised, result = results.get()
        if raised is not None:
            raise raised
        found.append(result)
    return found


# ---- Threads ----


def test_threads_share_a_database(folder: Path) -> None:
    with tansu.open(folder, durability="process") as db:
        db.c.create_index("n")

        def write(worker: int) -> None:
            for i in range(100):
                with db.transaction():
                    db.c.insert_one({"_id": f"{worker}-{i}", "n": i})
                    db.sums.update_one({"_id": 1}, {"$inc": {"n": 1}}, upsert=True)

        def read() -> None:
            for _ in range(100):
                with db.snapshot():
                    total = db.sums.find_one(1) or {"n": 0}
                    assert total["n"] == db.c.count_documents({}) == len(list(db.c.find({"n": {"$gte": 0}})))

        run_threads(*(lambda worker=worker: write(worker) for worker in range(3)), read, read)  # type: ignore[misc]
        assert db.sums.find_one(1) == {"_id": 1, "n": 300}


def test_a_transaction_is_of_its_thread(db: tansu.Database) -> None:
    with db.transaction():
        db.c.insert_one({"_id": 1})
        assert run_threads(lambda: db.c.count_documents({})) == [0]
    assert run_threads(lambda: db.c.count_documents({})) == [1]


def test_a_transaction_is_of_its_task(db: tansu.Database) -> None:
    async def write(inside: asyncio.Event, go_on: asyncio.Event) -> "asyncio.Task[Any]":
        async def late() -> None:
            await go_on.wait()
            assert db.c.count_documents({}) == 1

        with db.transaction():
            db.c.insert_one({"_id": 1})
            child = asyncio.create_task(late())
            inside.set()
            await asyncio.sleep(0.05)
            assert db.c.count_documents({}) == 1
        return child

    async def main() -> None:
        inside, go_on = asyncio.Event(), asyncio.Event()
        writer = asyncio.create_task(write(inside, go_on))
        await inside.wait()
        assert db.c.count_documents({}) == 0
        child = await writer
        assert db.c.count_documents({}) == 1
        go_on.set()
        await child

    asyncio.run(main())


def test_tasks_of_a_block_are_not_part_of_it(db: tansu.Database) -> None:
    async def other() -> int:
        with pytest.raises(tansu.Busy):
            db.c.insert_one({"_id": 2})
        return db.c.count_documents({})

    async def main() -> None:
        with db.transaction():
            db.c.insert_one({"_id": 1})
            assert await asyncio.gather(other(), asyncio.to_thread(db.c.count_documents, {})) == [0, 0]

    asyncio.run(main())
    assert db.c.count_documents({}) == 1


def test_blocks_that_end_in_another_order(db: tansu.Database) -> None:
    def block(number: int, fails: bool = False) -> Iterator[None]:
        with db.transaction():
            db.c.insert_one({"_id": number})
            yield
            if fails:
                raise ValueError

    first, second = block(1), block(2)
    next(first)
    next(second)
    assert list(first) == []  # the savepoint in it has not ended, and is rolled back
    with pytest.raises(tansu.InvalidState):
        next(second)
    assert [document["_id"] for document in db.c.find()] == [1]
    with db.transaction():
        db.c.insert_one({"_id": 3})
        abandoned = block(4)
        next(abandoned)
    abandoned.close()
    assert [document["_id"] for document in db.c.find()] == [1, 3]
    entered = db.transaction()
    entered.__enter__()
    db.c.insert_one({"_id": 5})
    run_threads(lambda: entered.__exit__(None, None, None))
    with db.snapshot():
        assert [document["_id"] for document in db.c.find()] == [1, 3, 5]
    with pytest.raises(tansu.InvalidState):
        db.transaction().__exit__(None, None, None)


def test_threads_share_a_cursor(db: tansu.Database) -> None:
    db.c.insert_many({"_id": i} for i in range(2000))
    cursor = db.c.find(batch_size=1)
    refused = []

    def read() -> List[Any]:
        found = []
        while cursor.alive:
            try:
                found.append(next(cursor)["_id"])
            except StopIteration:
                break
            except tansu.InvalidState as raised:
                refused.append(raised)
        return found

    found = sorted(sum(run_threads(read, read, read), []))
    assert found == list(range(2000))


def test_threads_start_a_cursor_once(db: tansu.Database) -> None:
    db.c.insert_many({"_id": i} for i in range(3))
    for _ in range(300):
        cursor = db.c.find()

        def read() -> List[Any]:
            with contextlib.suppress(tansu.InvalidState, StopIteration):
                return [next(cursor)["_id"]]
            return []

        found = sum(run_threads(read, read, read), [])
        assert len(found) == len(set(found))


@pytest.mark.parametrize("seed", range(5))
def test_objects_are_closed_anywhere(folder: Path, seed: int) -> None:
    """Threads use, close, cancel and forget the same cursors, streams and transactions, and close the database."""
    db = tansu.open(folder, durability="process")
    db.c.insert_many({"_id": i} for i in range(500))
    shared: List[Any] = []
    allowed = (tansu.InvalidState, tansu.Closed, tansu.Cancelled, tansu.Busy, StopIteration, IndexError, ValueError)

    def work(number: int) -> None:
        random_ = random.Random(SEED + seed * 100 + number)
        for _ in range(150):
            with contextlib.suppress(*allowed):
                action = random_.randrange(9)
                if action < 2:
                    shared.append(random_.choice([lambda: db.c.find(batch_size=2), lambda: db.watch(since=0)])())
                elif action == 2:
                    with db.transaction() as transaction:
                        cursor = db.c.find(batch_size=1)
                        shared.extend([cursor, transaction])
                        db.c.update_one({"_id": 1}, {"$inc": {"n": 1}})
                        next(cursor)
                elif action == 3:
                    shared.pop(random_.randrange(len(shared)))
                elif action == 4:
                    random_.choice(shared).close()
                elif action == 5:
                    random_.choice(shared).cancel()
                elif number == 0 and random_.random() < 0.02:
                    db.close()
                else:
                    one = random_.choice(shared)
                    if isinstance(one, tansu.ChangeStream):
                        one.try_next()
                    elif isinstance(one, tansu.Cursor):
                        next(one)
                    else:
                        one.__exit__(None, None, None)

    def tolerant(number: int) -> None:
        with contextlib.suppress(AttributeError):
            work(number)

    run_threads(*(lambda number=number: tolerant(number) for number in range(4)))  # type: ignore[misc]
    db.close()
    shared.clear()
    with tansu.open(folder) as db:
        assert db.verify()["ok"]


def test_close_waits_for_calls_and_ends_the_rest(folder: Path) -> None:
    db = tansu.open(folder)
    db.c.insert_many({"_id": i} for i in range(2000))
    cursor, stream = db.c.find(batch_size=1), db.watch()
    next(cursor)
    entered = threading.Event()

    def hold() -> None:
        with pytest.raises((tansu.InvalidState, tansu.Closed)):
            with db.transaction():
                entered.set()
                while True:
                    db.c.insert_one({})

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()
    db.close()
    thread.join(60)
    assert not thread.is_alive() and db.closed
    for call in (lambda: next(cursor), stream.try_next, db.stats, lambda: db.c.insert_one({}), db.c.find_one, db.transaction().__enter__):
        with pytest.raises(tansu.Closed):
            call()
    db.close()
    with tansu.open(folder) as again:
        assert again.c.count_documents({}) == 2000


# ---- Garbage ----


@pytest.mark.parametrize("order", ["database first", "cursor first", "cycle"])
def test_garbage_in_any_order(folder: Path, order: str) -> None:
    db = tansu.open(folder)
    db.c.insert_many([{"_id": 1}, {"_id": 2}])
    things = [db.c.find(batch_size=1), db.watch(since=0), db.transaction().__enter__(), db.c.find(batch_size=1)]
    tansu.transaction.current.set(None)
    next(things[0])
    next(things[3])
    if order == "database first":
        del db
        gc.collect()
        assert next(things[0])["_id"] == 2
        things.clear()
    elif order == "cursor first":
        things.clear()
        del db
    else:
        cycle: List[Any] = [db, *things]
        cycle.append(cycle)
        del db, things, cycle
    gc.collect()
    with tansu.open(folder) as db:
        assert db.c.count_documents({}) == 2


def test_a_cursor_is_forgotten_in_a_callback(db: tansu.Database) -> None:
    db.c.insert_many({"_id": i} for i in range(100))
    with db.transaction():
        cursors = [db.c.find(batch_size=1) for _ in range(3)]
        for cursor in cursors:
            next(cursor)

        class File:
            def write(self, data: bytes) -> None:
                cursors.clear()
                gc.collect()
                with pytest.raises(tansu.InvalidState):
                    db.c.count_documents({})

        db.dump(File())  # type: ignore[arg-type]
        assert db.c.count_documents({}) == 100


# ---- Processes and signals ----


# Where the tests run in the background, SIGINT is ignored.
HEARS = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


def run_program(program: str, *arguments: Any, kill: int = 0) -> str:
    """Runs a program of Python, and returns what it prints. With ``kill`` it gets that signal once it has printed a line."""
    process = subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-W", "ignore", "-c", HEARS + textwrap.dedent(program), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    first = process.stdout.readline() if kill else ""
    if kill:
        time.sleep(0.3)
        process.send_signal(kill)
    try:
        rest, _ = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 0, first + rest
    return first + rest


def test_fork(folder: Path) -> None:
    assert run_program(
        """
        import os, sys, gc, tansu
        db = tansu.open(sys.argv[1])
        db.c.insert_many([{"_id": 1}, {"_id": 2}])
        cursor, stream, transaction = db.c.find(batch_size=1), db.watch(), db.transaction().__enter__()
        next(cursor)
        child = os.fork()
        if child == 0:
            refused = 0
            for call in (db.c.find_one, lambda: next(cursor), stream.try_next, db.stats, lambda: db.c.insert_one({})):
                try:
                    call()
                except tansu.InvalidState:
                    refused += 1
            stream.close()
            db.close()
            del cursor, stream, transaction, db
            gc.collect()
            with tansu.open() as own:
                own.c.insert_one({})
            os._exit(refused)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        db.c.insert_one({"_id": 3})
        transaction.__exit__(None, None, None)
        print(db.c.count_documents({}))
        """,
        folder,
    ).split() == ["5", "3"]


def test_exit_with_everything_open(folder: Path) -> None:
    run_program(
        """
        import sys, threading, time, tansu
        db = tansu.open(sys.argv[1])
        memory = tansu.open(log=lambda operation: None, log_all=True)
        db.c.insert_many([{"_id": 1}, {"_id": 2}])
        memory.c.insert_many([{"_id": 1}, {"_id": 2}])
        cursors = [db.c.find(batch_size=1), memory.c.find(batch_size=1)]
        for cursor in cursors:
            next(cursor)
        stream = memory.watch()
        threading.Thread(target=lambda: next(stream), daemon=True).start()
        def read():
            while True:
                db.c.find_one(2)
        threading.Thread(target=read, daemon=True).start()
        transaction = db.transaction()
        transaction.__enter__()
        db.c.delete_many({})
        time.sleep(0.1)
        """,
        folder,
    )
    with tansu.open(folder) as db:
        assert db.c.count_documents({}) == 2


LONG = """
    import os, signal, sys, threading, tansu
    if sys.argv[2] == "set before":
        signal.signal(signal.SIGINT, lambda number, frame: None)
    db = tansu.open()
    db.c.insert_many({"_id": i, "a": list(range(50))} for i in range(20000))
    query = {"$or": [{"a": {"$elemMatch": {"$gt": 60 + i, "$lt": 70 + 2 * i}}} for i in range(300)]}
    calls = {
        "count": lambda: db.c.count_documents(query),
        "find": lambda: list(db.c.find(query)),
        "find_one": lambda: db.c.find_one(query),
        "sort": lambda: list(db.c.find(query, sort="a")),
        "update": lambda: db.c.update_many(query, {"$set": {"b": 1}}),
        "delete": lambda: db.c.delete_many(query),
        "distinct": lambda: db.c.distinct("a", query),
        "group": lambda: db.c.group({"n": {"$count": True}}, None, query),
        "watch": lambda: next(db.watch()),
    }
    call = calls[sys.argv[1]]
"""
KEYBOARD = """
    def run():
        print("begin", flush=True)
        while True:
            call()
    try:
        if sys.argv[2] == "transaction":
            with db.transaction():
                db.c.insert_one({"_id": "x"})
                run()
        run()
    except KeyboardInterrupt:
        print("interrupted", db.c.count_documents({"_id": "x"}))
    assert db.c.count_documents({}) == 20000
"""
HANDLER = """
    # Signals come until one of them falls into a call, which is then cancelled.
    if sys.argv[2] == "set after":
        signal.signal(signal.SIGINT, lambda number, frame: None)
    done = threading.Event()
    def send():
        while not done.wait(0.05):
            os.kill(os.getpid(), signal.SIGINT)
    thread = threading.Thread(target=send)
    thread.start()
    try:
        while True:
            call()
    except tansu.Cancelled:
        print("cancelled")
    done.set()
    thread.join()
    assert db.c.count_documents({}) == 20000
"""


@pytest.mark.parametrize("where", ["alone", "transaction"])
@pytest.mark.parametrize("call", ["find", "update", "watch"])
def test_keyboard_interrupt(call: str, where: str) -> None:
    printed = run_program(LONG + KEYBOARD, call, where, kill=signal.SIGINT)
    assert printed.splitlines() == ["begin", "interrupted 0"]


@pytest.mark.parametrize("call", ["count", "find", "find_one", "sort", "update", "delete", "distinct", "group"])
@pytest.mark.parametrize("handler", ["set before", "set after"])
def test_a_signal_cancels_a_call(call: str, handler: str) -> None:
    assert run_program(LONG + HANDLER, call, handler) == "cancelled\n"


def test_interrupt_while_waiting_for_the_write_lock() -> None:
    printed = run_program(
        """
        import threading, tansu
        db = tansu.open()
        held, done = threading.Event(), threading.Event()
        def hold():
            with db.transaction():
                held.set()
                done.wait()
        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        print("begin", flush=True)
        try:
            db.c.insert_one({})
        except KeyboardInterrupt:
            print("interrupted")
        done.set()
        thread.join()
        db.c.insert_one({})
        """,
        kill=signal.SIGINT,
    )
    assert printed.splitlines() == ["begin", "interrupted"]


def test_interrupt_of_a_long_maintenance_call() -> None:
    printed = run_program(
        """
        import tansu
        db = tansu.open()
        db.c.insert_many({"_id": i, "a": list(range(40))} for i in range(60000))
        print("begin", flush=True)
        try:
            while True:
                db.c.create_index("a", "i")
                db.c.drop_index("i")
        except KeyboardInterrupt:
            print("interrupted")
        """,
        kill=signal.SIGINT,
    )
    assert printed.splitlines() == ["begin", "interrupted"]


# ---- Memory ----


def resident() -> int:
    """Kilobytes of memory of this process."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs Linux")
def test_memory_does_not_grow(folder: Path) -> None:
    def session() -> None:
        with tansu.open(folder, durability="process") as db:
            db.c.insert_many({"n": i, "text": "x" * 100} for i in range(300))
            db.c.create_index("n")
            list(db.c.find({"n": {"$lt": 200}}))
            next(db.c.find(batch_size=1))
            next(db.watch(since=0))
            with contextlib.suppress(tansu.InvalidQuery):
                db.c.find_one({"$none": 1})
            with db.transaction() as transaction:
                db.c.update_many({}, {"$set": {"a": 1}})
                next(db.c.find(batch_size=1))
                transaction.rollback()
            db.c.drop()

    for _ in range(20):
        session()
    gc.collect()
    before = resident()
    for _ in range(100):
        session()
    gc.collect()
    assert resident() - before < 32 * 1024
