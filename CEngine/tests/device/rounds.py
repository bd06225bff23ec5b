"""The rounds: work on the device, trouble or power loss, and what is left."""

import os
import random
import struct
import subprocess
import time

from crash import Log, Replay, remove
from rig import Rig, Worker, call, umount

MARK = "TANSU-DEVICE-DATA"  # as in steps.h: it fits writes of documents and of nothing else
LEDGER_RECORD = struct.Struct("<QIIQQ")
ACKNOWLEDGED = (1, 2)


def trouble_orders(rng):
    """Orders to the device, and whether reads may fail by them."""
    skip = rng.randrange(40)
    count = rng.choice([1, 1, 2, 5, 20])
    return rng.choice(
        [
            ("fail write", False),
            ("fail flush", False),
            ("fail write flush", False),
            (f"fail write skip={skip} count={count}", False),
            (f"fail write half skip={skip} count={count}", False),
            ("fail write half", False),
            ("fail write chance=30", False),
            (f"fail flush skip={skip % 8} count={count}", False),
            (f"fail write errno=ENOSPC skip={skip} count={count}", False),
            ("fail read", True),
            ("fail read chance=30", True),
            (f"fail read skip={skip} count={count}", True),
            ("fail read write flush", True),
        ]
    )


def sync_orders(rng):
    """A failure that only one fdatasync tells of: the file system stays well, and the page is clean afterwards."""
    skip = rng.randrange(6)
    return rng.choice(
        [
            (f"fail write mark={MARK} skip={skip} count=1", False),
            (f"fail write mark={MARK} skip={skip} count={rng.randrange(2, 6)}", False),
            (f"fail write half mark={MARK} skip={skip} count=1", False),
            (f"fail write mark={MARK} errno=ENOSPC skip={skip} count=1", False),
            (f"fail flush skip={skip} count=1", False),
        ]
    )


def acknowledgement_times(ledger):
    """When the steps of a ledger were acknowledged, in nanoseconds."""
    with open(ledger, "rb") as f:
        data = f.read()
    data = data[: len(data) // LEDGER_RECORD.size * LEDGER_RECORD.size]
    return [r[0] for r in LEDGER_RECORD.iter_unpack(data) if r[1] in ACKNOWLEDGED]


class Round:
    """One round. `faults` has what was wrong, `told` what was done."""

    def __init__(self, options, work, seed):
        self.options, self.work, self.seed = options, work, seed
        self.rng = random.Random(seed)
        self.faults = []
        self.notes = []
        self.states = 0
        self.unmountable = 0  # states that the file system itself did not survive
        self.file_system = self.rng.choice(options.file_systems)
        self.scenario = self.rng.choice(options.scenarios)
        self.durability = "full"
        self.ledger = os.path.join(work, "ledger")
        self.reopened = 0  # when work went on after the trouble
        remove(self.ledger)

    # ---- Programs ----

    def worker(self, rig):
        backups = os.path.join(rig.live, "backups")
        os.makedirs(backups, exist_ok=True)
        command = [self.options.workload, "run", os.path.join(rig.live, "db"), self.ledger, str(self.seed)]
        return Worker(command + [self.durability, backups, str(self.options.hang)])

    def inspect(self, what, folder, moment, soft, other_boot):
        """Looks at a database and its backups; what is wrong becomes a fault."""
        scratch = os.path.join(self.work, "scratch")
        remove(scratch)
        os.makedirs(scratch)
        command = [self.options.workload, "inspect", os.path.join(folder, "db"), self.ledger, str(self.seed)]
        command += [str(moment), "soft" if soft else "hard", os.path.join(folder, "backups"), scratch]
        command += [str(self.options.hang)]
        if other_boot:
            boot = os.path.join(self.work, "boot_id")
            with open(boot, "w") as f:
                f.write("11111111-0000-4000-8000-%012x\n" % self.rng.randrange(1 << 48))
            script = 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"'
            command = ["unshare", "--mount", "sh", "-c", script, boot] + command
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            found = [line[6:] for line in done.stdout.splitlines() if line.startswith("FAULT ")]
            if done.returncode != 0 and not found:
                found = [f"inspecting ended with {done.returncode}: {(done.stdout + done.stderr)[-300:].strip()}"]
        except subprocess.TimeoutExpired:
            found = ["inspecting did not end within 120 s"]
        self.faults += [f"{what}: {text}" for text in found]
        remove(scratch)
        return not found

    # ---- Work, trouble, work again ----

    def opened(self, worker, what, allowed=()):
        """Has the worker open the database; whether it did. Other outcomes than the allowed ones are faults."""
        worker.tell("open")
        answer = worker.answer("opened")
        status = answer.split()[0] if answer else None
        if status not in ("OK", None) and status not in allowed:
            worker.faults.append(f"{what}: the database does not open: {answer}")
        worker.is_open = status == "OK"
        return worker.is_open

    def end(self, worker):
        """Ends the work in one of the ways in which a program ends."""
        if self.rng.random() < 0.5:
            worker.tell("close")
            worker.answer("closed")
            worker.tell("quit")
            worker.wait()
        else:
            worker.kill()
        self.faults += worker.faults

    def trouble(self, rig, worker):
        """Has the device fail for a while."""
        orders, reads = (trouble_orders if self.scenario == "trouble" else sync_orders)(self.rng)
        self.notes.append(f'"{orders}"')
        worker.tell("trouble")
        # XFS refuses reads too once it has shut itself down.
        if reads or self.file_system == "xfs":
            worker.tell("read-errors")
        time.sleep(0.05)
        rig.order(orders)
        forgetting = reads or self.rng.random() < 0.3
        for _ in range(self.rng.randrange(2, 6)):
            time.sleep(0.3)
            if forgetting:
                worker.tell("forget")
        rig.order("clear")

    def go_on(self, rig, worker):
        """Opens the database again, by the same process or another; the worker, or None when it can't be."""
        same = worker.alive() and self.rng.random() < 0.5
        if same and worker.is_open:
            worker.tell("close")
            same = worker.answer("closed") is not None
        elif not same:
            worker.kill()
        if rig.writable() and self.rng.random() < 0.8:
            if same:
                self.notes.append("same process")
            else:
                worker = self.another(rig, worker)
            # The system may still have an error to tell that nobody was told of.
            worker.tell("trouble")
            if self.opened(worker, "after the trouble", ("IO", "FULL", "FAILED", "READ_ONLY")):
                return worker
            same = False
        return self.mount_and_open(rig, worker, same)

    def another(self, rig, worker):
        """Another process in place of this one, which is ended."""
        worker.kill()
        self.faults += worker.faults
        worker.faults = []
        return self.worker(rig)

    def mount_and_open(self, rig, worker, same):
        """Mounts the file system anew, as after its errors, and opens the database; the worker, or None."""
        self.notes.append("mounted again")
        if same and umount(rig.live, 1):
            rig.mounted = False
            self.notes.append("same process")
        else:
            worker.kill()  # one that keeps files open is in the way
            same = False
        if not rig.unmount():
            self.faults.append("the file system can't be unmounted")
            return None
        rig.mount()
        if not same:
            worker = self.another(rig, worker)
        worker.tell("well")
        if self.opened(worker, "after the trouble"):
            return worker
        worker.kill()
        self.faults += worker.faults
        return None

    def open_in_trouble(self, rig):
        """Opens the database, with nothing of it in memory, while the device fails; then again when it is well."""
        for _ in range(3):
            if not rig.unmount():
                self.faults.append("the file system can't be unmounted")
                return
            rig.mount()
            orders, _ = trouble_orders(self.rng)
            self.notes.append(f'"{orders}"')
            worker = self.worker(rig)
            worker.tell("trouble")
            worker.tell("read-errors")
            rig.order(orders)
            if self.opened(worker, "in trouble", ("IO", "FULL", "FAILED", "READ_ONLY")):
                time.sleep(self.rng.uniform(0.05, 0.4))
            rig.order("clear")
            worker = self.go_on(rig, worker)
            if worker is None:
                return
            time.sleep(self.rng.uniform(0.1, 0.4))
            self.end(worker)
            if self.faults:
                return

    def work_on(self, rig):
        """All that happens before the power is lost."""
        worker = self.worker(rig)
        if not self.opened(worker, "at the beginning"):
            worker.kill()
            self.faults += worker.faults
            return
        if self.scenario == "opening":
            time.sleep(self.rng.uniform(0.2, 0.8))
            self.end(worker)
            self.open_in_trouble(rig)
            return
        time.sleep(self.rng.uniform(0.3, 1.2) if self.scenario != "power" else self.rng.uniform(1, 3))
        if self.scenario != "power":
            self.trouble(rig, worker)
            worker = self.go_on(rig, worker)
            if worker is None:
                return
            self.reopened = time.monotonic_ns()
            time.sleep(self.rng.uniform(0.4, 1.2))
        self.end(worker)

    # ---- Power loss ----

    def moments(self, log):
        """Numbers of entries at which the power fails, in order, without those before the first acknowledgement."""
        times = acknowledgement_times(self.ledger)
        if not times or not log.entries:
            return []
        starts = [e[0] for e in log.entries]

        def first_behind(t):
            low, high = 0, len(starts)
            while low < high:
                middle = (low + high) // 2
                low, high = (middle + 1, high) if starts[middle] <= t else (low, middle)
            return low

        first, last = first_behind(times[0]), len(starts) - 1
        later = first_behind(self.reopened) if self.reopened else first
        chosen = []
        for _ in range(self.options.states if first <= last else 0):
            way = self.rng.randrange(3)
            if way == 0:
                chosen.append(first_behind(self.rng.choice(times)))
            elif way == 1 and later <= last:
                chosen.append(self.rng.randrange(later, last + 1))
            else:
                chosen.append(self.rng.randrange(first, last + 1))
        return sorted(m for m in chosen if m <= last)

    def lose_power(self, rig, logged):
        """Makes and inspects states after power loss at moments of this round."""
        log = Log(rig.log, logged)
        replay = Replay(log, rig.base, os.path.join(self.work, "durable.image"))
        state = os.path.join(self.work, "state.image")
        folder = os.path.join(self.work, "state")
        os.makedirs(folder, exist_ok=True)
        for moment in self.moments(log):
            replay.state(moment, self.rng, state)
            # Without another start of the machine, nothing less may have been asked for than the disk.
            other_boot = self.durability != "full" or self.rng.random() < 0.7
            self.look_at_state(state, folder, log.entries[moment][0], moment, other_boot)
            if len(self.faults) >= 5 or time.monotonic() > self.options.end:
                break
        replay.close()
        log.close()

    def look_at_state(self, state, folder, nanoseconds, moment, other_boot):
        options = ["-o", "loop" + (",nouuid" if self.file_system == "xfs" else "")]
        done = call(["mount", "-t", self.file_system] + options + [state, folder], check=False)
        if done.returncode != 0:
            self.unmountable += 1  # torn superblocks and journals: no fault of the database
            return
        try:
            boot = "another start" if other_boot else "the same start"
            what = f"power lost at entry {moment}, {boot} of the machine"
            good = self.inspect(what, folder, nanoseconds, False, other_boot)
            self.states += 1
        finally:
            if not umount(folder):
                call(["umount", "-l", folder], check=False)
        if not good and self.options.keep:
            os.makedirs(self.options.keep, exist_ok=True)
            name = os.path.join(self.options.keep, f"{self.seed}-{moment}")
            call(["cp", "--sparse=always", state, name + ".image"])
            call(["cp", self.ledger, name + ".ledger"])

    def run(self):
        if self.scenario == "power":
            self.durability = self.rng.choice(["full", "full", "process", "interval"])
        self.notes.append(self.durability)
        rig = Rig(self.work, self.options.disk, self.file_system)
        try:
            self.work_on(rig)
            figures = rig.figures()
            if figures["overflow"]:
                self.notes.append("the device's log was full")
                return
            if not rig.unmount():
                self.faults.append("the file system can't be unmounted at the end")
                return
            logged = rig.figures()["logged"]
            rig.mount()
            soft = self.scenario == "power"
            self.inspect("at the end, on the device", rig.live, (1 << 64) - 1, soft, False)
            failed = [f"{figures['failed_' + n]} {n}" for n in ("reads", "writes", "flushes")]
            if self.scenario != "power":
                self.notes.append("failed " + ", ".join(failed))
            rig.unmount()
        finally:
            rig.close()
        self.lose_power(rig, logged)

    def summary(self):
        acknowledged = len(acknowledgement_times(self.ledger)) if os.path.exists(self.ledger) else 0
        return (
            f"seed {self.seed} {self.file_system} {self.scenario} ({'; '.join(self.notes)}): "
            f"{acknowledged} steps acknowledged, {self.states} states after power loss"
            + (f", {self.unmountable} not mountable" if self.unmountable else "")
        )
