"""Requests of a gigabyte."""

import socket
import time

from client import AUTHORIZATION
from process import Samples

BYTES = 1 << 30
BLOCK = bytes(range(256)) * 4096


class Connection:
    """A socket, because most HTTP clients read an answer only after they have sent everything."""

    def __init__(self, port, head):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=300)
        self.socket.sendall(head.encode())

    def send(self, count, chunked=False):
        """Sends a body; whether the server took all of it."""
        sent = 0
        try:
            while sent < count:
                if chunked:
                    self.socket.sendall(f"{len(BLOCK):x}\r\n".encode() + BLOCK + b"\r\n")
                else:
                    self.socket.sendall(BLOCK[:count - sent])
                sent += len(BLOCK)
            if chunked:
                self.socket.sendall(b"0\r\n\r\n")
            return True
        except OSError:
            return False

    def status(self):
        """The status of the answer; the bytes of the body that came with its head are dropped."""
        data = b""
        while b"\r\n\r\n" not in data:
            more = self.socket.recv(65536)
            if not more:
                break
            data += more
        self.rest = len(data.partition(b"\r\n\r\n")[2])
        return int(data.split(b" ")[1]) if data else None

    def drain(self):
        """The bytes of the body until its end, which closes the connection."""
        count = self.rest
        buffer = bytearray(1 << 20)
        while True:
            more = self.socket.recv_into(buffer)
            if not more:
                return count
            count += more


def head(method, path, *fields):
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: {AUTHORIZATION}", *fields, "", ""])


def require(condition, what):
    if not condition:
        raise SystemExit(f"run-server: {what}")


def measure(server, client):
    rows = []

    def row(key, megabytes, work):
        start = time.monotonic()
        with Samples(server, 0.02) as samples:
            work()
        seconds = time.monotonic() - start
        rows.append({"key": key, "megabytes": megabytes, "seconds": seconds, "before": samples.first(),
                     "peak": samples.peak(), "after": samples.last()})

    def put():
        connection = Connection(server.port, head(
            "PUT", "/people/large/video", "Content-Type: video/mp4", f"Content-Length: {BYTES}", "Expect: nothing"))
        require(connection.send(BYTES), "the attachment was refused")
        require(connection.status() == 201, "the attachment was not stored")

    def get():
        connection = Connection(server.port, head("GET", "/people/large/video", "Connection: close"))
        require(connection.status() == 200, "the attachment is not there")
        require(connection.drain() == BYTES, "the attachment is too short")

    def announced():
        connection = Connection(server.port, head(
            "PUT", "/people/larger", "Content-Type: application/json", f"Content-Length: {BYTES}"))
        connection.send(BYTES)
        require(connection.status() == 413, "a document of a gigabyte was not refused")

    def chunked():
        connection = Connection(server.port, head(
            "PUT", "/people/larger", "Content-Type: application/json", "Transfer-Encoding: chunked"))
        connection.send(BYTES, chunked=True)
        require(connection.status() in (413, None), "a document of a gigabyte was not refused")

    row("attachment-put", BYTES / 1e6, put)
    row("attachment-get", BYTES / 1e6, get)
    row("json-announced", 0, announced)
    row("json-chunked", 0, chunked)
    client.json("GET", "/people")
    return rows
