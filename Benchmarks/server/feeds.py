"""Many idle feeds: the memory of the server, and a save that reaches all of them."""

import json
import selectors
import socket
import time

from client import AUTHORIZATION, document


class Feed:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.received = b""
        self.socket.sendall((
            "GET /people/_changes?feed=continuous&since=now&heartbeat=60000 HTTP/1.1\r\n"
            f"Host: 127.0.0.1\r\nAuthorization: {AUTHORIZATION}\r\n\r\n").encode())


def until(feeds, condition, seconds):
    """Reads until a condition holds of what each feed has received; the seconds that took."""
    start = time.monotonic()
    waiting = set(range(len(feeds)))
    with selectors.DefaultSelector() as selector:
        for index, feed in enumerate(feeds):
            selector.register(feed.socket, selectors.EVENT_READ, index)
        while waiting:
            if time.monotonic() - start > seconds:
                raise SystemExit(f"run-server: {len(waiting)} of {len(feeds)} feeds have not got what was awaited")
            for key, _ in selector.select(1):
                feed = feeds[key.data]
                data = feed.socket.recv(65536)
                if not data:
                    raise SystemExit(f"run-server: a feed has ended: {feed.received[-200:]}")
                feed.received += data
                if condition(feed.received):
                    waiting.discard(key.data)
    return time.monotonic() - start


def measure(server, client, documents, count):
    client.json("GET", "/people")
    before = server.memory()[0]
    feeds = [Feed(server.port) for _ in range(count)]
    until(feeds, lambda received: b"\r\n\r\n" in received, 120)
    time.sleep(3)
    processor = server.seconds()
    time.sleep(5)
    idle = (server.seconds() - processor) / 5 * 100
    opened = server.memory()[0]
    identifier = "for-all-feeds"
    value = document(documents)
    value["_id"] = identifier
    client.request("PUT", "/people/" + identifier, json.dumps(value).encode())
    reached = until(feeds, lambda received: identifier.encode() in received, 120)
    after = server.memory()[0]
    for feed in feeds:
        feed.socket.close()
    time.sleep(3)
    return {"key": "feeds", "count": count, "before": before, "open": opened, "saved": after,
            "closed": server.memory()[0], "reached": reached, "idleProcessor": idle}
