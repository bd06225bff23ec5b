"""The server as a process: its start, its end, its memory and processor time."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time

USER = "admin"
PASSWORD = "benchmark"
TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    """A `tansu serve` over a new database, which is removed at the end."""

    def __init__(self, command, folder=None):
        self.folder = tempfile.mkdtemp(prefix="tansu-server-", dir=folder)
        self.database = os.path.join(self.folder, "people.tansu")
        environment = dict(os.environ, TANSU_ADMIN_PASSWORD=PASSWORD)
        self.process = subprocess.Popen(
            [command, "serve", self.database, "--create", "--port", "0", "--admin", USER, "--json"],
            stdout=subprocess.PIPE, text=True, env=environment)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("run-server: the server did not start")
        self.url = json.loads(line)["url"]
        self.port = int(self.url.rstrip("/").rsplit(":", 1)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def seconds(self):
        """The processor time that it has used, in user and kernel mode."""
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self):
        """Megabytes: what it has allocated, and what is resident, pages of mapped files included."""
        values = {}
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            for line in file:
                name, value = line.split(":", 1)
                if name in ("RssAnon", "VmRSS"):
                    values[name] = int(value.split()[0]) / 1024
        return values["RssAnon"], values["VmRSS"]

    def disk(self):
        """Megabytes of disk blocks."""
        total = 0
        for folder, _, files in os.walk(self.folder):
            for name in files:
                try:
                    total += os.stat(os.path.join(folder, name)).st_blocks * 512
                except FileNotFoundError:
                    pass
        return total / 1e6

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


class Samples:
    """The memory of a server while something happens."""

    def __init__(self, server, interval):
        self.server = server
        self.interval = interval
        self.samples = []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.start = time.monotonic()
        self.take()
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.take()

    def take(self):
        anonymous, resident = self.server.memory()
        sample = {"seconds": time.monotonic() - self.start, "anonymous": anonymous, "resident": resident,
                  "disk": self.server.disk(), "descriptors": self.server.descriptors()}
        self.samples.append(sample)

    def run(self):
        while not self.ended.wait(self.interval):
            self.take()

    def peak(self, name="anonymous"):
        return max(sample[name] for sample in self.samples)

    def first(self, name="anonymous"):
        return self.samples[0][name]

    def last(self, name="anonymous"):
        return self.samples[-1][name]
