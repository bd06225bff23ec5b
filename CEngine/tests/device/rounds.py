"""The rounds: a workload on the device, injected faults or power loss, and the inspection of what is left."""

import os
import random
import struct
import subprocess
import time

from crash import Log, Replay, remove
from environment import Environment, FileSystemLost, Worker, call, umount

# What fits writes of documents and of nothing else: the text of steps.h, or what a sealed block of the log begins with.
MARKS = {"plain": "TANSU-DEVICE-DATA", "encrypted": "TSB1"}
ACK_RECORD = struct.Struct("<QIIQQ")
ACKNOWLEDGED = (1, 2)


def fault_commands(rng):
    """A command for the device, and whether it lets reads fail."""
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


def sync_fault_commands(rng, mark):
    """A fault that only one fdatasync reports: the file system stays intact, and the page is clean afterwards."""
    skip = rng.randrange(6)
    return rng.choice(
        [
            (f"fail write mark={mark} skip={skip} count=1", False),
            (f"fail write mark={mark} skip={skip} count={rng.randrange(2, 6)}", False),
            (f"fail write half mark={mark} skip={skip} count=1", False),
            (f"fail write mark={mark} errno=ENOSPC skip={skip} count=1", False),
            (f"fail flush skip={skip} count=1", False),
        ]
    )


def acknowledgement_times(ack_log):
    """When the steps in a log of acknowledgements were acknowledged, in nanoseconds."""
    with open(ack_log, "rb") as f:
        data = f.read()
    data = data[: len(data) // ACK_RECORD.size * ACK_RECORD.size]
    return [r[0] for r in ACK_RECORD.iter_unpack(data) if r[1] in ACKNOWLEDGED]


class Round:
    """One round. `faults` has what was wrong, `notes` what was done."""

    def __init__(self, options, work, seed):
        self.options, self.work, self.seed = options, work, seed
        self.rng = random.Random(seed)
        self.faults = []
        self.notes = []
        self.states = 0
        self.unmountable = 0  # states that the file system itself did not survive
        self.file_system = self.rng.choice(options.file_systems)
        self.scenario = self.rng.choice(options.scenarios)
        # By the seed, so that it repeats the round, and one after the other.
        self.form = options.forms[seed % len(options.forms)]
        self.durability = "full"
        self.ack_log = os.path.join(work, "acknowledgements")
        self.reopened = 0  # when the workload resumed after the faults
        remove(self.ack_log)

    # ---- Programs ----

    def worker(self, env):
        backups = os.path.join(env.live, "backups")
        os.makedirs(backups, exist_ok=True)
        command = [self.options.workload, "run", os.path.join(env.live, "db"), self.ack_log, str(self.seed)]
        return Worker(command + [self.durability, backups, str(self.options.hang), self.form])

    def inspect(self, what, folder, crash_point, process_only, other_boot):
        """Inspects a database and its backups; what is wrong becomes a fault."""
        scratch = os.path.join(self.work, "scratch")
        remove(scratch)
        os.makedirs(scratch)
        command = [self.options.workload, "inspect", os.path.join(folder, "db"), self.ack_log, str(self.seed)]
        command += [str(crash_point), "soft" if process_only else "hard", os.path.join(folder, "backups"), scratch]
        command += [str(self.options.hang), self.form]
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

    # ---- Workload, faults, workload again ----

    def opened(self, worker, what, allowed=()):
        """Has the worker open the database; whether it did. Other outcomes than the allowed ones are faults."""
        worker.send("open")
        answer = worker.answer("opened")
        status = answer.split()[0] if answer else None
        if status not in ("OK", None) and status not in allowed:
            worker.faults.append(f"{what}: the database does not open: {answer}")
        worker.is_open = status == "OK"
        return worker.is_open

    def end(self, worker):
        """Ends the worker in one of the ways in which a program ends."""
        if self.rng.random() < 0.5:
            worker.send("close")
            worker.answer("closed")
            worker.send("quit")
            worker.wait()
        else:
            worker.kill()
        self.faults += worker.faults

    def inject_faults(self, env, worker):
        """Has the device fail for a while."""
        if self.scenario == "faults":
            commands, reads = fault_commands(self.rng)
        else:
            commands, reads = sync_fault_commands(self.rng, MARKS[self.form])
        self.notes.append(f'"{commands}"')
        worker.send("faults")
        # XFS refuses reads too once it has shut itself down.
        if reads or self.file_system == "xfs":
            worker.send("read-errors")
        time.sleep(0.05)
        env.command_device(commands)
        drop_caches = reads or self.rng.random() < 0.3
        for _ in range(self.rng.randrange(2, 6)):
            time.sleep(0.3)
            if drop_caches:
                worker.send("drop-caches")
        env.command_device("clear")

    def resume(self, env, worker):
        """Opens the database again, by the same process or another; the worker, or None when it can't be."""
        same = worker.alive() and self.rng.random() < 0.5
        if same and worker.is_open:
            worker.send("close")
            same = worker.answer("closed") is not None
        elif not same:
            worker.kill()
        if env.writable() and self.rng.random() < 0.8:
            if same:
                self.notes.append("same process")
            else:
                worker = self.replace_worker(env, worker)
            # The system may still have an error to report.
            worker.send("faults")
            if self.opened(worker, "after the faults", ("IO", "FULL", "SYNC_FAILED", "READ_ONLY")):
                return worker
            same = False
            if worker.faults:
                self.keep_database(env)
        return self.mount_and_open(env, worker, same)

    def replace_worker(self, env, worker):
        """Ends the process and starts another one."""
        worker.kill()
        self.faults += worker.faults
        worker.faults = []
        return self.worker(env)

    def mount_and_open(self, env, worker, same):
        """Mounts the file system again, as after its errors, and opens the database; the worker, or None."""
        self.notes.append("mounted again")
        if same and umount(env.live, 1):
            env.mounted = False
            self.notes.append("same process")
        else:
            worker.kill()  # it has files open
            same = False
        if not env.unmount():
            self.faults.append("the file system can't be unmounted")
            return None
        try:
            env.mount()
        except FileSystemLost:
            worker.kill()
            self.faults += worker.faults
            raise
        if not same:
            worker = self.replace_worker(env, worker)
        worker.send("healthy")
        if self.opened(worker, "after the faults"):
            return worker
        worker.kill()
        self.keep_database(env)
        self.faults += worker.faults
        return None

    def keep_database(self, env):
        """Keeps a database that does not open, with the acknowledgements, if faults are to be kept."""
        if self.options.keep:
            os.makedirs(self.options.keep, exist_ok=True)
            name = os.path.join(self.options.keep, str(self.seed))
            call(["cp", "-r", "--sparse=always", os.path.join(env.live, "db"), name + ".db"])
            call(["cp", self.ack_log, name + ".acknowledgements"])

    def open_with_faults(self, env):
        """Opens the database, with nothing of it in memory, while the device fails; then again after the faults."""
        for _ in range(3):
            if not env.unmount():
                self.faults.append("the file system can't be unmounted")
                return
            env.mount()
            commands, _ = fault_commands(self.rng)
            self.notes.append(f'"{commands}"')
            worker = self.worker(env)
            worker.send("faults")
            worker.send("read-errors")
            env.command_device(commands)
            if self.opened(worker, "while the device fails", ("IO", "FULL", "SYNC_FAILED", "READ_ONLY")):
                time.sleep(self.rng.uniform(0.05, 0.4))
            env.command_device("clear")
            worker = self.resume(env, worker)
            if worker is None:
                return
            time.sleep(self.rng.uniform(0.1, 0.4))
            self.end(worker)
            if self.faults:
                return

    def run_workload(self, env):
        """All that happens before the power is lost."""
        worker = self.worker(env)
        if not self.opened(worker, "at the beginning"):
            worker.kill()
            self.faults += worker.faults
            return
        if self.scenario == "opening":
            time.sleep(self.rng.uniform(0.2, 0.8))
            self.end(worker)
            self.open_with_faults(env)
            return
        time.sleep(self.rng.uniform(0.3, 1.2) if self.scenario != "power" else self.rng.uniform(1, 3))
        if self.scenario != "power":
            self.inject_faults(env, worker)
            worker = self.resume(env, worker)
            if worker is None:
                return
            self.reopened = time.monotonic_ns()
            time.sleep(self.rng.uniform(0.4, 1.2))
        self.end(worker)

    # ---- Power loss ----

    def crash_points(self, log):
        """Numbers of log entries at which the power fails, in order, after the first acknowledgement."""
        times = acknowledgement_times(self.ack_log)
        if not times or not log.entries:
            return []
        starts = [e[0] for e in log.entries]

        def first_after(t):
            low, high = 0, len(starts)
            while low < high:
                middle = (low + high) // 2
                low, high = (middle + 1, high) if starts[middle] <= t else (low, middle)
            return low

        first, last = first_after(times[0]), len(starts) - 1
        later = first_after(self.reopened) if self.reopened else first
        chosen = []
        for _ in range(self.options.states if first <= last else 0):
            way = self.rng.randrange(3)
            if way == 0:
                chosen.append(first_after(self.rng.choice(times)))
            elif way == 1 and later <= last:
                chosen.append(self.rng.randrange(later, last + 1))
            else:
                chosen.append(self.rng.randrange(first, last + 1))
        return sorted(m for m in chosen if m <= last)

    def lose_power(self, env, log_size):
        """Constructs and inspects states after power loss during this round."""
        log = Log(env.log, log_size)
        replay = Replay(log, env.base, os.path.join(self.work, "durable.image"))
        state = os.path.join(self.work, "state.image")
        folder = os.path.join(self.work, "state")
        os.makedirs(folder, exist_ok=True)
        for crash_point in self.crash_points(log):
            replay.state(crash_point, self.rng, state)
            # Within the same start of the machine, only durability "full" promises anything.
            other_boot = self.durability != "full" or self.rng.random() < 0.7
            self.inspect_state(state, folder, log.entries[crash_point][0], crash_point, other_boot)
            if len(self.faults) >= 5 or time.monotonic() > self.options.end:
                break
        replay.close()
        log.close()

    def inspect_state(self, state, folder, nanoseconds, crash_point, other_boot):
        options = ["-o", "loop" + (",nouuid" if self.file_system == "xfs" else "")]
        done = call(["mount", "-t", self.file_system] + options + [state, folder], check=False)
        if done.returncode != 0:
            self.unmountable += 1  # torn superblocks and journals: no fault of the database
            return
        try:
            boot = "another start" if other_boot else "the same start"
            what = f"power lost at entry {crash_point}, {boot} of the machine"
            good = self.inspect(what, folder, nanoseconds, False, other_boot)
            self.states += 1
        finally:
            if not umount(folder):
                call(["umount", "-l", folder], check=False)
        if not good and self.options.keep:
            os.makedirs(self.options.keep, exist_ok=True)
            name = os.path.join(self.options.keep, f"{self.seed}-{crash_point}")
            call(["cp", "--sparse=always", state, name + ".image"])
            call(["cp", self.ack_log, name + ".acknowledgements"])

    def run(self):
        if self.scenario == "power":
            self.durability = self.rng.choice(["full", "full", "process", "interval"])
        self.notes.append(self.durability)
        env = Environment(self.work, self.options.disk, self.file_system)
        try:
            self.run_workload(env)
            counters = env.counters()
            if counters["overflow"]:
                self.notes.append("the device's log was full")
                return
            if not env.unmount():
                self.faults.append("the file system can't be unmounted at the end")
                return
            log_size = env.counters()["logged"]
            env.mount()
            process_only = self.scenario == "power"
            self.inspect("at the end, on the device", env.live, (1 << 64) - 1, process_only, False)
            failed = [f"{counters['failed_' + n]} {n}" for n in ("reads", "writes", "flushes")]
            if self.scenario != "power":
                self.notes.append("failed " + ", ".join(failed))
            env.unmount()
        except FileSystemLost:  # a superblock or journal that a write has torn
            self.unmountable += 1
            return
        finally:
            env.close()
        self.lose_power(env, log_size)

    def summary(self):
        acknowledged = len(acknowledgement_times(self.ack_log)) if os.path.exists(self.ack_log) else 0
        return (
            f"seed {self.seed} {self.file_system} {self.form} {self.scenario} ({'; '.join(self.notes)}): "
            f"{acknowledged} steps acknowledged, {self.states} states after power loss"
            + (f", {self.unmountable} not mountable" if self.unmountable else "")
        )
