"""How fast the server is: with one client in Python, and with wrk at several numbers of connections."""

import json
import os
import subprocess
import time
import uuid

from client import AUTHORIZATION, Client, batch, document, identifier

HERE = os.path.dirname(os.path.abspath(__file__))
BATCH = 2000
INDEX = {"index": {"fields": ["email"]}, "name": "email", "ddoc": "by-email", "type": "json"}

# CouchDB 3.5.0 with one shard on two cores, with a client that has one connection; those with a star were measured while the
# machine was busy, and are doubled, as the record of that measurement says.
COUCHDB = {
    "bulk": 10500, "get": 319, "put": 124, "find": 330, "find-scan": 35000, "index": 10.1,
    "all-docs": 2 * 7721, "changes": 2 * 19034,
}
COUCHDB_16 = {"get": 2 * 412, "put": 2 * 418, "find": 2 * 391}
GOAL = 10


class Measured:
    """The repetitions of a row: rates or seconds, and the processor time of the server for one unit of work."""

    def __init__(self, server):
        self.server = server
        self.rates = []
        self.processor = []

    def measure(self, units, work):
        before, start = self.server.seconds(), time.monotonic()
        count = work()
        seconds = time.monotonic() - start
        units = units if count is None else count
        self.rates.append(units / seconds)
        self.processor.append((self.server.seconds() - before) / units * 1e6)
        return seconds


def for_seconds(seconds, request):
    """Makes requests one after the other; the number of them."""
    end = time.monotonic() + seconds
    count = 0
    while time.monotonic() < end:
        request(count)
        count += 1
    return count


def load(server, client, documents):
    """Makes the database, in batches."""
    client.request("PUT", "/people")
    bodies = [batch(first, min(BATCH, documents - first)) for first in range(0, documents, BATCH)]
    row = Measured(server)
    parts = max(1, len(bodies) // 3)
    for first in range(0, len(bodies), parts):
        some = bodies[first:first + parts]
        row.measure(min(documents, (first + len(some)) * BATCH) - first * BATCH,
                    lambda some=some: [client.request("POST", "/people/_bulk_docs", body) for body in some] and None)
    return row


def one_client(server, client, documents, seconds, repetitions, loaded):
    """The rows of one client."""
    rows = [{"key": "bulk", "unit": "/s", "tansu": loaded.rates, "processor": loaded.processor}]

    def add(key, work, units=None, unit="/s"):
        row = Measured(server)
        times = [row.measure(units, work) for _ in range(repetitions)]
        rows.append({"key": key, "unit": unit, "tansu": times if unit == "s" else row.rates, "processor": row.processor})

    # Numbers that are not in order, each at most once.
    step = 7919

    def number(count):
        return count * step % documents

    added = [0]

    def put(_):
        added[0] += 1
        value = document(documents + added[0])
        client.request("PUT", "/people/" + value["_id"], json.dumps(value).encode())

    def find(count):
        wanted = number(count)
        selector = {"selector": {"email": f"person{wanted}@example.com"}, "limit": 25}
        found = client.json("POST", "/people/_find", selector)["docs"]
        if [one["_id"] for one in found] != [identifier(wanted)]:
            raise SystemExit(f"run-server: _find has found {found}")

    def scan():
        selector = {"selector": {"age": 17}, "limit": documents}
        found = client.json("POST", "/people/_find", selector)["docs"]
        if len(found) < documents // 80:
            raise SystemExit(f"run-server: _find has found {len(found)} documents")

    def read(path):
        if client.request("GET", path).count(b"\n") < documents:
            raise SystemExit(f"run-server: {path} is too short")

    def index():
        """Builds an index by its first query."""
        client.json("POST", "/people/_index", INDEX)
        find(1)

    add("get", lambda: for_seconds(seconds, lambda count: client.request("GET", "/people/" + identifier(number(count)))))
    add("find-scan", scan, units=documents)
    add("all-docs", lambda: read("/people/_all_docs?include_docs=true"), units=documents)
    add("changes", lambda: read("/people/_changes"), units=documents)
    row = Measured(server)
    times = []
    for repetition in range(repetitions):
        if repetition > 0:
            client.request("DELETE", "/people/_index/by-email/json/email")
            client.request("POST", "/people/_view_cleanup", b"{}")
        times.append(row.measure(documents, index))
    rows.append({"key": "index", "unit": "s", "tansu": times, "processor": row.processor})
    add("find", lambda: for_seconds(seconds, find))
    add("put", lambda: for_seconds(seconds, put))
    for row in rows:
        row["couchdb"] = COUCHDB[row["key"]]
        row["goal"] = GOAL
    return rows


def wrk(server, script, connections, seconds, documents, prefix):
    """The result of one run of wrk, which has one thread of its own."""
    before = server.seconds()
    done = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "60s", "-s", f"lua/{script}.lua",
         server.url.rstrip("/"), "--", AUTHORIZATION, str(documents), prefix],
        cwd=HERE, stdout=subprocess.PIPE, text=True, check=True,
        env=dict(os.environ, LUA_PATH=os.path.join(HERE, "lua", "?.lua") + ";;"))
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    if len(lines) != 1:
        raise SystemExit(f"run-server: wrk has said: {done.stdout}")
    result = json.loads(lines[0][len("RESULT "):])
    result["processor"] = (server.seconds() - before) / max(1, result["requests"]) * 1e6
    return result


def connections(server, client, documents, seconds, repetitions, numbers):
    """The rows of wrk."""
    rows = []
    instance = client.json("GET", "/people")["update_seq"].split("-")[1]
    for key in ("get", "put", "bulk", "find", "changes"):
        for number in numbers:
            results = []
            for _ in range(repetitions):
                prefix = instance if key == "changes" else "new-" + uuid.uuid4().hex[:8]
                results.append(wrk(server, key, number, seconds, documents, prefix))
                if key in ("put", "bulk"):
                    # The index takes in what was saved before the next row begins.
                    client.json("POST", "/people/_find", {"selector": {"email": "person1@example.com"}})
            row = {"key": key, "connections": number, "failures": sum(result["failures"] for result in results)}
            row["tansu"] = [result["requests"] / result["seconds"] for result in results]
            for name in ("median", "high", "longest", "processor"):
                row[name] = [result[name] for result in results]
            if number == 16 and key in COUCHDB_16:
                row["couchdb"] = COUCHDB_16[key]
            rows.append(row)
    return rows
