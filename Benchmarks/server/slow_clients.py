"""Slow clients: some read one byte at a time, some send their request byte by byte. Others have to be served meanwhile."""

import json
import multiprocessing
import selectors
import socket
import time

from client import AUTHORIZATION
from process import Samples
from speed import wrk


class Reader:
    """Asks for much, and takes a byte a tick of it."""

    def __init__(self, port):
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.connect(("127.0.0.1", port))
        self.socket.sendall((
            "GET /people/_all_docs?include_docs=true HTTP/1.1\r\n"
            f"Host: 127.0.0.1\r\nAuthorization: {AUTHORIZATION}\r\n\r\n").encode())
        self.socket.setblocking(False)
        self.outcome = None

    def tick(self, _):
        try:
            if not self.socket.recv(1):
                self.outcome = "closed"
        except BlockingIOError:
            pass
        except ConnectionError:
            self.outcome = "closed"


class Sender:
    """Sends a byte every few ticks, until an answer comes."""

    def __init__(self, port, number, ticks):
        self.ticks = ticks
        self.socket = socket.create_connection(("127.0.0.1", port))
        body = json.dumps({"slow": number}).encode()
        self.rest = (f"PUT /people/slow-{ticks}-{number} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {AUTHORIZATION}\r\n"
                     f"Content-Length: {len(body)}\r\n\r\n").encode() + body
        self.socket.setblocking(False)
        self.outcome = None

    def tick(self, number):
        try:
            self.outcome = self.socket.recv(4096).split(b" ")[1].decode()
            return
        except BlockingIOError:
            pass
        except (ConnectionError, IndexError):
            self.outcome = "closed"
            return
        if number % self.ticks == 0 and self.rest:
            try:
                self.socket.send(self.rest[:1])
                self.rest = self.rest[1:]
            except OSError:
                self.outcome = self.outcome or "closed"


def run(port, readers, senders, seconds, interval, outcomes):
    """The slow clients, in a process of their own. A third of the senders is too slow for a head."""
    slow_ticks = int(1 / interval)
    clients = [Reader(port) for _ in range(readers)]
    clients += [Sender(port, number, slow_ticks if number % 3 == 0 else 2) for number in range(senders)]
    start = time.monotonic()
    number = 0
    while time.monotonic() - start < seconds:
        for client in clients:
            if client.outcome is None:
                client.tick(number)
        number += 1
        time.sleep(max(0, start + number * interval - time.monotonic()))
    counts = {}
    for client in clients:
        kind = "reader" if isinstance(client, Reader) else "too slow" if client.ticks == slow_ticks else "slow"
        name = f"{kind}: {client.outcome or 'open'}"
        counts[name] = counts.get(name, 0) + 1
    outcomes.put(counts)


def measure(server, documents, count, seconds=50, slices=4):
    """The requests a second of other clients, without and with slow ones, and what the slow ones got."""
    outcomes = multiprocessing.Queue()
    alone = [wrk(server, "get", 16, 4, documents, "")["requests"] / 4 for _ in range(slices)]
    with Samples(server, 0.2) as samples:
        slow = multiprocessing.Process(target=run, args=(server.port, count // 2, count // 2, seconds, 0.05, outcomes))
        slow.start()
        time.sleep(3)
        beside = [wrk(server, "get", 16, 4, documents, "") for _ in range(slices)]
        counts = outcomes.get()
        slow.join()
    if any(result["failures"] for result in beside):
        raise SystemExit("run-server: requests beside slow clients have failed")
    return {"key": "slow", "count": count, "alone": alone, "beside": [result["requests"] / 4 for result in beside],
            "high": [result["high"] for result in beside], "before": samples.first(), "peak": samples.peak(),
            "after": samples.last(), "outcomes": counts}
