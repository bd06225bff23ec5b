"""One client with a connection that it keeps, and the documents of the benchmark."""

import base64
import http.client
import json

from process import PASSWORD, USER

AUTHORIZATION = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
HEADERS = {"Authorization": AUTHORIZATION, "Content-Type": "application/json"}
CITIES = 80


class Client:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)

    def request(self, method, path, body=None, expected=(200, 201, 202)):
        """The bytes of the answer. A status that is not expected ends the benchmark."""
        self.connection.request(method, path, body, HEADERS)
        answer = self.connection.getresponse()
        data = answer.read()
        if answer.status not in expected:
            raise SystemExit(f"run-server: {method} {path}: {answer.status} {data[:300]}")
        return data

    def json(self, method, path, value=None):
        body = None if value is None else json.dumps(value).encode()
        return json.loads(self.request(method, path, body))

    def close(self):
        self.connection.close()


def identifier(number):
    return f"person-{number:08d}"


def fields(number):
    """About 195 bytes as JSON with the id. A city and an age belong to 1.25 % of the documents."""
    return {
        "name": f"Name {number // 10}", "age": number % 80, "email": f"person{number}@example.com",
        "tags": [f"t{number % 7}", f"t{number % 11}", f"t{number % 13}"],
        "address": {"city": f"City {number * 7919 % CITIES}", "zip": f"{number % 100:05d}"},
    }


def document(number):
    return {"_id": identifier(number), **fields(number)}


def batch(first, count):
    """The body of a `_bulk_docs`."""
    return json.dumps({"docs": [document(first + index) for index in range(count)]}, separators=(",", ":")).encode()
