"""Power-loss simulation: what the device may hold when the power fails, by its log of writes and flushes.

A write is on the medium once a flush that came after it was answered. Of the writes since the last flush, any
sector of 512 bytes may be on the medium or not, whatever the order of the writes; of one that was written several times, any of
its contents may be there.
"""

import mmap
import os
import shutil
import struct
import subprocess

SECTOR = 512
WRITE, FLUSH, FAILED = 2, 4, 16
ENTRY = struct.Struct("<QQII")


def copy_sparse(source, target):
    """Copies an image, holes included."""
    subprocess.run(["cp", "--sparse=always", source, target], check=True, timeout=120)


class Log:
    """The device's log: when each call came, and what a write wrote."""

    def __init__(self, path, size):
        self.entries = []  # (nanoseconds, kind, offset, offset of the bytes in the log, size)
        self.file = open(path, "rb")
        self.bytes = mmap.mmap(self.file.fileno(), 0, prot=mmap.PROT_READ) if size > 0 else b""
        at = 0
        while at + ENTRY.size <= size:
            nanoseconds, offset, length, kind = ENTRY.unpack_from(self.bytes, at)
            at += ENTRY.size
            self.entries.append((nanoseconds, kind, offset, at, length))
            at += length

    def data(self, entry):
        return self.bytes[entry[3] : entry[3] + entry[4]]

    def close(self):
        if self.bytes:
            self.bytes.close()
        self.file.close()


def unflushed_sectors(log, pending):
    """Each sector that was written since the last flush, with its contents in order."""
    versions = {}
    for entry in pending:
        data = log.data(entry)
        for at in range(0, len(data), SECTOR):
            versions.setdefault(entry[2] + at, []).append(data[at : at + SECTOR])
    return versions


def choose(rng, log, pending):
    """Yields the (offset, bytes) that reached the medium, of one of the possible states."""
    way = rng.choice(["none", "all", "first writes", "few", "half", "most", "one missing", "one write missing"])
    if way == "none" or not pending:
        return
    if way == "one write missing":
        del pending[rng.randrange(len(pending))]
    if way == "first writes":
        pending = pending[: rng.randrange(len(pending) + 1)]
    sectors = unflushed_sectors(log, pending)
    chance = {"few": 0.1, "half": 0.5, "most": 0.9}.get(way, 1.0)
    missing = rng.choice(list(sectors)) if way == "one missing" and sectors else None
    for offset, contents in sectors.items():
        if offset != missing and rng.random() < chance:
            yield offset, contents[-1] if way in ("all", "first writes") else rng.choice(contents)


class Replay:
    """Replays a log and constructs states after power loss at chosen entries."""

    def __init__(self, log, base, durable):
        copy_sparse(base, durable)
        self.log, self.path = log, durable
        self.done = 0
        self.file = os.open(durable, os.O_RDWR)

    def state(self, crash_point, rng, target):
        """One state of power loss while the entry number `crash_point` was in progress; numbers only grow."""
        flushed = crash_point
        while flushed > self.done and self.log.entries[flushed - 1][1] != FLUSH:
            flushed -= 1
        for entry in self.log.entries[self.done : flushed]:
            if entry[1] == WRITE:
                os.pwrite(self.file, self.log.data(entry), entry[2])
        self.done = flushed
        copy_sparse(self.path, target)
        pending = [e for e in self.log.entries[flushed : crash_point + 1] if e[1] == WRITE]
        image = os.open(target, os.O_RDWR)
        try:
            for offset, data in choose(rng, self.log, pending):
                os.pwrite(image, data, offset)
        finally:
            os.close(image)

    def close(self):
        os.close(self.file)


def remove(path):
    """A file or a folder, if it is there."""
    if os.path.isdir(path):
        shutil.rmtree(path, ignore_errors=True)
    elif os.path.exists(path):
        os.unlink(path)
