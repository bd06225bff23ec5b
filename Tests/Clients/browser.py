"""A headless Chromium, driven by its DevTools protocol over two pipes: no packages, and no port."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "headless_shell")


def find():
    """The path of a browser, or None."""
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


class Failure(Exception):
    pass


class Browser:
    """One page of a browser. Everything that it requests, and what goes wrong in it, is kept."""

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory(prefix="tansu-browser-")
        to_read, self.to_write = os.pipe()
        self.from_read, from_write = os.pipe()

        def move():
            # The browser reads from descriptor 3 and writes to 4.
            os.dup2(to_read, 100)
            os.dup2(from_write, 101)
            os.dup2(100, 3)
            os.dup2(101, 4)
            os.close(100)
            os.close(101)

        self.log = open(os.path.join(self.folder.name, "log"), "w+")
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--disable-sync",
             "--no-default-browser-check", "--proxy-server=127.0.0.1:9", "--proxy-bypass-list=127.0.0.1",
             f"--user-data-dir={self.folder.name}/profile", "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, preexec_fn=move, close_fds=False)
        os.close(to_read)
        os.close(from_write)
        self.next, self.answers, self.arrived = 0, {}, threading.Condition()
        self.requests, self.problems, self.ended = [], [], False
        threading.Thread(target=self.read, daemon=True).start()
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=self.folder.name, eventsEnabled=False)

    def read(self):
        rest = b""
        while data := os.read(self.from_read, 1 << 20):
            *messages, rest = (rest + data).split(b"\0")
            for message in messages:
                self.take(json.loads(message))
        with self.arrived:
            self.ended = True
            self.arrived.notify_all()

    def take(self, message):
        if "id" in message:
            with self.arrived:
                self.answers[message["id"]] = message
                self.arrived.notify_all()
            return
        values = message.get("params", {})
        if message["method"] == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif message["method"] == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(values["exceptionDetails"]))
        elif message["method"] == "Log.entryAdded" and values["entry"]["level"] == "error":
            # An answer that is an error is shown by the page.
            if values["entry"]["source"] != "network":
                self.problems.append(values["entry"]["text"])
        elif message["method"] == "Page.javascriptDialogOpening":
            if values["type"] != "beforeunload":
                self.problems.append(f"a dialog: {values['message']}")
            self.send("Page.handleJavaScriptDialog", accept=True)

    def send(self, method, **values):
        with self.arrived:
            self.next += 1
            number = self.next
        message = {"id": number, "method": method, "params": values}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        return number

    def call(self, method, timeout=30, **values):
        number = self.send(method, **values)
        with self.arrived:
            if not self.arrived.wait_for(lambda: number in self.answers or self.ended, timeout) or number not in self.answers:
                raise Failure(f"the browser did not answer {method}; it wrote:\n{self.text()}")
            answer = self.answers.pop(number)
        if "error" in answer:
            raise Failure(f"{method}: {answer['error']}")
        return answer["result"]

    def text(self):
        self.log.flush()
        with open(self.log.name) as log:
            return log.read()[-3000:]

    def run(self, script):
        """The value of a JavaScript expression, which may be a promise."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in answer:
            raise Failure(f"{script}\n{answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def until(self, script, timeout=20):
        """Waits until an expression is true."""
        end = time.monotonic() + timeout
        while True:
            try:
                if value := self.run(script):
                    return value
            except Failure:
                # The page is being replaced.
                if time.monotonic() > end:
                    raise
            if time.monotonic() > end:
                shown = self.run("document.body.innerText")
                raise Failure(f"not true within {timeout} s: {script}\nthe page shows:\n{shown[:3000]}")
            time.sleep(0.03)

    def open(self, url):
        self.call("Page.navigate", url=url)

    def appearance(self, width, height, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def downloaded(self, name, timeout=20):
        """The bytes of a file that the page has downloaded."""
        path = os.path.join(self.folder.name, name)
        end = time.monotonic() + timeout
        while not os.path.exists(path):
            if time.monotonic() > end:
                raise Failure(f"no file {name} was downloaded")
            time.sleep(0.05)
        with open(path, "rb") as file:
            return file.read()

    def stop(self):
        try:
            self.session = None
            self.call("Browser.close", timeout=10)
            self.process.wait(10)
        except (Failure, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.log.close()
        try:
            self.folder.cleanup()
        except OSError:
            # A process of the browser may still write there.
            shutil.rmtree(self.folder.name, ignore_errors=True)
