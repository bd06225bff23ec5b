"""A real file system on the failing device, and the programs that work on it."""

import os
import queue
import signal
import subprocess
import threading
import time

from crash import copy_sparse

LOG_LIMIT = 1 << 30
FILE_SYSTEMS = {
    "ext4": (96, ["mkfs.ext4", "-q", "-F"], []),
    "xfs": (320, ["mkfs.xfs", "-q", "-f"], ["-o", "nouuid"]),
    "btrfs": (256, ["mkfs.btrfs", "-q", "-f"], []),
}


class HarnessError(Exception):
    """The harness itself has failed: no fault of the database."""


class FileSystemLost(Exception):
    """The file system can't be mounted after writes of it failed: no fault of the database."""


def call(command, timeout=60, check=True):
    """Runs a command of the system; its output when it worked."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    if check and done.returncode != 0:
        raise HarnessError(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")
    return done


def tool(name):
    """Whether there is such a program of the system."""
    return any(os.access(os.path.join(p, name), os.X_OK) for p in os.get_exec_path() + ["/sbin", "/usr/sbin"])


def umount(folder, seconds=10):
    """Whether the folder could be unmounted: not while a process has files open in it."""
    end = time.monotonic() + seconds
    while call(["umount", folder], check=False).returncode != 0:
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


class Environment:
    """Device, loop device and mounted file system. close() removes all of it."""

    def __init__(self, work, disk_program, file_system):
        self.file_system = file_system
        self.folder = work
        self.base = os.path.join(work, f"{file_system}.base")
        self.image = os.path.join(work, "device.image")
        self.log = os.path.join(work, "device.log")
        self.fuse = os.path.join(work, "fuse")
        self.live = os.path.join(work, "live")
        self.loop = None
        self.device = None
        self.mounted = False
        size, make, self.mount_options = FILE_SYSTEMS[file_system]
        for folder in (self.fuse, self.live):
            os.makedirs(folder, exist_ok=True)
        if not os.path.exists(self.base):
            with open(self.base, "wb") as f:
                f.truncate(size << 20)
            call(make + [self.base])
        copy_sparse(self.base, self.image)
        try:
            self.device = subprocess.Popen([disk_program, self.fuse, self.image, self.log, str(LOG_LIMIT)])
            self.wait_for_device()
            self.loop = call(["losetup", "-f", "--show", os.path.join(self.fuse, "disk")]).stdout.strip()
            self.mount()
        except BaseException:
            self.close()
            raise

    def wait_for_device(self):
        end = time.monotonic() + 10
        while not os.path.exists(os.path.join(self.fuse, "disk")):
            if self.device.poll() is not None or time.monotonic() > end:
                raise HarnessError("the device did not start: is /dev/fuse there?")
            time.sleep(0.01)

    def mount(self):
        done = call(["mount", "-t", self.file_system] + self.mount_options + [self.loop, self.live], check=False)
        if done.returncode != 0:
            counters = self.counters()
            lost = counters["failed_writes"] + counters["failed_flushes"] > 0
            raise (FileSystemLost if lost else HarnessError)(f"mount -t {self.file_system}: {done.stderr.strip()}")
        self.mounted = True

    def unmount(self):
        """Whether it could be unmounted: not while a process has files open in it."""
        if self.mounted and umount(self.live):
            self.mounted = False
        return not self.mounted

    def writable(self):
        """Whether the file system still takes writes: after errors it may have shut itself down."""
        probe = os.path.join(self.live, "probe")
        try:
            file = os.open(probe, os.O_WRONLY | os.O_CREAT, 0o600)
            try:
                os.write(file, b"x" * 4096)
                os.fsync(file)
            finally:
                os.close(file)
            os.unlink(probe)
            os.statvfs(self.live)
            return True
        except OSError:
            return False

    def command_device(self, text):
        with open(os.path.join(self.fuse, "control"), "w", buffering=1) as f:
            f.write(text + "\n")

    def counters(self):
        """The counters of the device, by name."""
        with open(os.path.join(self.fuse, "control"), "rb", buffering=0) as f:
            words = f.read(4096).decode().split()
        return {name: int(value) for name, value in zip(words[::2], words[1::2])}

    def close(self):
        if self.device is not None and self.device.poll() is None and self.loop is not None:
            try:
                self.command_device("clear")
            except OSError:
                pass
        if self.mounted and not self.unmount():
            call(["umount", "-l", self.live], check=False)
        if self.loop is not None:
            call(["losetup", "-d", self.loop], check=False)
        if self.device is not None:
            call(["umount", self.fuse], check=False)
            try:
                self.device.wait(5)
            except subprocess.TimeoutExpired:
                call(["umount", "-l", self.fuse], check=False)
                self.device.kill()
                self.device.wait()
        self.device = self.loop = None


class Worker:
    """device-workload run: accepts commands, and prints answers and faults."""

    def __init__(self, command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.lines = queue.Queue()
        self.faults = []
        self.last = ""
        self.killed = False
        self.is_open = False  # the database, as far as is known
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            line = line.rstrip("\n")
            if line.startswith("FAULT "):
                self.faults.append(line[6:])
            else:
                self.last = line
                self.lines.put(line)
        self.lines.put(None)

    def send(self, command_device):
        try:
            self.process.stdin.write(command_device + "\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended; wait() reports how

    def answer(self, prefix, seconds=60):
        """The rest of the next line that begins so; None when the process ends instead."""
        end = time.monotonic() + seconds
        while True:
            try:
                line = self.lines.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                self.faults.append(f'no answer "{prefix}" within {seconds} s')
                self.kill()
                return None
            if line is None:
                return None
            if line.startswith(prefix + " "):
                return line[len(prefix) + 1 :]

    def alive(self):
        return self.process.poll() is None

    def kill(self):
        """Sends SIGKILL, unless it has ended by itself."""
        if self.alive():
            self.killed = True
            self.process.send_signal(signal.SIGKILL)
        self.wait()

    def wait(self):
        """Waits for the end; an unexpected one is a fault."""
        try:
            code = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.faults.append("the process did not end")
            self.process.kill()
            code = self.process.wait(60)
        self.reader.join(10)
        if code < 0 and not self.killed:
            self.faults.append(f"the process was ended by {signal.Signals(-code).name}")
        elif code > 0 and not self.faults:
            self.faults.append(f"the process ended with {code}: {self.last}")
        self.killed = True
