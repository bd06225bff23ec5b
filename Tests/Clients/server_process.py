"""`tansu serve` as a process, and requests to it as they are, without the manners of an HTTP library."""

import base64
import json
import os
import pathlib
import re
import socket
import subprocess
import tempfile

ADMIN, PASSWORD = "admin", "password"
AUTHORIZATION = "Basic " + base64.b64encode(f"{ADMIN}:{PASSWORD}".encode()).decode()


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)


class NoAnswer(Exception):
    """The connection ended before an answer did."""


def read_answer(stream, method="GET"):
    line = stream.readline(65537)
    found = re.match(rb"HTTP/1\.[01] (\d{3})", line)
    if not found:
        raise NoAnswer(f"no status line, but {line[:80]!r}")
    status, headers = int(found.group(1)), {}
    while True:
        line = stream.readline(65537)
        if line in (b"\r\n", b""):
            break
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    if status == 100:
        return read_answer(stream, method)
    if method == "HEAD" or status in (204, 304):
        return Answer(status, headers, b"")
    if headers.get("transfer-encoding") == "chunked":
        body = b""
        while True:
            size = stream.readline(100)
            if not size.strip():
                raise NoAnswer("the body ended early")
            size = int(size, 16)
            piece = stream.read(size + 2)
            if len(piece) != size + 2:
                raise NoAnswer("the body ended early")
            if size == 0:
                return Answer(status, headers, body)
            body += piece[:-2]
    if "content-length" in headers:
        body = stream.read(int(headers["content-length"]))
        if len(body) != int(headers["content-length"]):
            raise NoAnswer("the body ended early")
        return Answer(status, headers, body)
    return Answer(status, headers, stream.read())


class Server:
    def __init__(self, program, folder=None, options=()):
        self.program, self.options = program, list(options)
        self.temporary = tempfile.TemporaryDirectory(prefix="tansu-clients-") if folder is None else None
        self.folder = folder or self.temporary.name
        self.log = pathlib.Path(self.folder) / "server.log"
        self.start()

    def start(self):
        command = [self.program, "serve", f"{self.folder}/clients.tansu", "--create", "--port", "0", "--admin", ADMIN]
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                command + self.options, stdout=subprocess.PIPE, stderr=log, text=True,
                env=dict(os.environ, TANSU_ADMIN_PASSWORD=PASSWORD))
        for line in self.process.stdout:
            found = re.search(r"http://(\S+?):(\d+)", line)
            if found:
                self.port = int(found.group(2))
                return
        raise SystemExit(f"the server did not start; it wrote:\n{self.log.read_text()}")

    def connect(self, timeout=60):
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def raw(self, data, method="GET", timeout=60):
        """The answer to bytes, which may come before all of them were sent."""
        with self.connect(timeout) as connection:
            try:
                connection.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass
            with connection.makefile("rb") as stream:
                try:
                    return read_answer(stream, method)
                except ConnectionResetError as error:
                    raise NoAnswer(str(error))

    def request(self, method, path, body=None, headers=(), timeout=60):
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        head = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Authorization: {AUTHORIZATION}", "Connection: close"]
        headers = dict(headers)
        if body is not None:
            head.append(f"Content-Length: {len(body)}")
            headers.setdefault("Content-Type", "application/json")
        head += [f"{name}: {value}" for name, value in headers.items()]
        return self.raw("\r\n".join(head + ["", ""]).encode() + (body or b""), method, timeout)

    def memory(self):
        """Bytes that the process has in memory, files not counted."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"RssAnon:\s+(\d+)", status).group(1)) * 1024

    def peak(self):
        """The most bytes that it ever had in memory."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) * 1024

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        self.process.terminate()
        try:
            status = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = "nothing within 30 seconds"
        if status != 0:
            raise SystemExit(f"the server ended with {status}; it wrote:\n{self.log.read_text()[-5000:]}")
        if self.temporary:
            self.temporary.cleanup()
