"""Minutes of mixed load, and the memory and the disk of the server meanwhile."""

import json
import multiprocessing
import random
import time

from client import Client, document, fields, identifier
from process import Samples


class Worker:
    """Saves, changes and removes documents of its own, and reads those of all. It checks what it reads."""

    def __init__(self, port, number, documents, live):
        self.client = Client(port)
        self.number = number
        self.documents = documents
        self.live = live
        self.random = random.Random(number)
        self.revisions = {}
        self.next = 0
        self.since = "now"
        self.requests = 0

    def path(self, key):
        return f"/people/worker-{self.number}-{key}"

    def save(self, key):
        value = fields(self.random.randrange(self.documents))
        if key in self.revisions:
            value["_rev"] = self.revisions[key]
        self.revisions[key] = self.client.json("PUT", self.path(key), value)["rev"]

    def step(self):
        self.requests += 1
        choice = self.random.random()
        if choice < 0.4:
            number = self.random.randrange(self.documents)
            if self.client.json("GET", "/people/" + identifier(number))["_id"] != identifier(number):
                raise SystemExit("run-server: a document has another id")
        elif choice < 0.6 and self.revisions:
            key = self.random.choice(list(self.revisions))
            if self.client.json("GET", self.path(key))["_rev"] != self.revisions[key]:
                raise SystemExit("run-server: a saved revision is not the current one")
        elif choice < 0.75:
            self.save(self.random.randrange(self.live))
        elif choice < 0.85:
            self.batch()
        elif choice < 0.9 and self.revisions:
            key, revision = self.revisions.popitem()
            self.client.request("DELETE", f"{self.path(key)}?rev={revision}")
        elif choice < 0.95:
            selector = {"selector": {"email": f"person{self.random.randrange(self.documents)}@example.com"}, "limit": 25}
            if not self.client.json("POST", "/people/_find", selector)["docs"]:
                raise SystemExit("run-server: _find has missed a document")
        else:
            answer = self.client.json("GET", f"/people/_changes?limit=200&since={self.since}")
            self.since = answer["last_seq"]

    def batch(self):
        """Changes fifty documents at once."""
        keys = self.random.sample(range(self.live), 50)
        values = []
        for key in keys:
            value = {"_id": f"worker-{self.number}-{key}", **fields(self.random.randrange(self.documents))}
            if key in self.revisions:
                value["_rev"] = self.revisions[key]
            values.append(value)
        for key, result in zip(keys, self.client.json("POST", "/people/_bulk_docs", {"docs": values})):
            self.revisions[key] = result["rev"]


def run(port, number, documents, live, seconds, results):
    worker = Worker(port, number, documents, live)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        worker.step()
    results.put(worker.requests)


def measure(server, documents, seconds, workers=4, live=2000):
    results = multiprocessing.Queue()
    processes = [multiprocessing.Process(target=run, args=(server.port, number, documents, live, seconds, results))
                 for number in range(workers)]
    with Samples(server, 1) as samples:
        for process in processes:
            process.start()
        for process in processes:
            process.join()
    if any(process.exitcode != 0 for process in processes):
        raise SystemExit("run-server: a worker has failed")
    requests = sum(results.get() for _ in processes)
    return {"key": "sustained", "seconds": seconds, "requests": requests, "samples": samples.samples}
