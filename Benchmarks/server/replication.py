"""How fast `tansu replicate` copies a collection from a server, to one, and finds that there is nothing to copy."""

import json
import os
import subprocess
import tempfile
import time

from process import PASSWORD, TICKS, USER, Samples

GOAL = 20  # seconds for 100,000 documents that are pulled


class Copier:
    """The command with what it needs of processor time and memory."""

    def __init__(self, command, server):
        self.command = command
        self.server = server

    def run(self, source, target):
        """Copies once; what was measured, and the number of documents that were written."""
        environment = dict(os.environ, TANSU_PASSWORD=PASSWORD)
        start, before = time.monotonic(), self.server.seconds()
        process = subprocess.Popen(
            [self.command, "replicate", source, target, "--create", "--user", USER, "--json"],
            stdout=subprocess.PIPE, text=True, env=environment)
        used, peak = 0, 0
        with Samples(self.server, 0.1) as samples:
            while process.poll() is None:
                used, peak = self.sample(process.pid, used, peak)
                time.sleep(0.02)
        answer = json.loads(process.stdout.read())
        if process.returncode != 0 or answer["failed"] != 0:
            raise SystemExit(f"run-server: tansu replicate fails: {answer}")
        measured = {
            "seconds": time.monotonic() - start, "server": self.server.seconds() - before, "command": used,
            "serverPeak": samples.peak(), "commandPeak": peak,
        }
        return measured, answer["written"]

    @staticmethod
    def sample(pid, used, peak):
        """The processor time and the greatest memory of the command up to now; as before when it has ended."""
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            with open(f"/proc/{pid}/status", encoding="utf-8") as file:
                memory = [int(line.split()[1]) / 1024 for line in file if line.startswith("RssAnon")]
        except (FileNotFoundError, ProcessLookupError):
            return used, peak
        return max(used, (int(fields[11]) + int(fields[12])) / TICKS), max([peak] + memory)


def measure(command, server, documents, repetitions):
    """The rows: pull into an empty collection, pull when nothing has changed, push into an empty database."""
    copier = Copier(command, server)
    base = server.url.rstrip("/")
    rows = {key: {"key": key, "seconds": [], "server": [], "command": [], "serverPeak": [], "commandPeak": []}
            for key in ("pull", "nothing", "push")}
    rows["pull"]["goal"] = GOAL * documents / 100000
    for repetition in range(repetitions):
        with tempfile.TemporaryDirectory(prefix="tansu-copy-", dir=server.folder) as folder:
            copy = os.path.join(folder, "copy.tansu") + "/people"
            for key, source, target, expected in (
                    ("pull", base + "/people", copy, documents), ("nothing", base + "/people", copy, 0),
                    ("push", copy, f"{base}/copy-{repetition}", documents)):
                measured, written = copier.run(source, target)
                # A design document with an index is copied as well.
                if not expected <= written <= expected + (1 if expected else 0):
                    raise SystemExit(f"run-server: {key} has written {written} documents, not {expected}")
                for name, value in measured.items():
                    rows[key][name].append(value)
    return list(rows.values())
