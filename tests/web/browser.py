"""A headless Chromium, driven over a pipe: JSON messages that end with NUL, on the descriptors 3
and 4 of the browser. Nothing but Python's own library."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium-headless-shell", "chromium")


class Problem(Exception):
    """The browser, or the page in it, reports an error."""


def find():
    """Path of a browser, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """A browser with its own empty profile. Use it in `with`."""

    def __init__(self, program, script="0"):
        self.program, self.script = program, script  # which runs first in each page

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="ostler-web-")
        to_browser, self.write = os.pipe()
        self.read, from_browser = os.pipe()
        self.process = subprocess.Popen(
            # The shell puts the pipes where the browser expects them.
            ["sh", "-c", f'exec 3<&{to_browser} 4>&{from_browser} "$@"', "sh", self.program,
             "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--hide-scrollbars", "--no-first-run", "--disable-extensions", "--lang=en-US",
             "--enable-precise-memory-info", "--js-flags=--expose-gc",
             f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe"],
            pass_fds=(to_browser, from_browser), stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, env={**os.environ, "TZ": "UTC"})
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.last, self.answers, self.sessions = b"", 0, {}, {}
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
        except Problem:
            self.process.kill()
        self.process.wait(10)
        os.close(self.write)
        os.close(self.read)
        self.profile.cleanup()

    def receive(self, deadline):
        """Takes one message, or none until the deadline: whether there was one."""
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                return False
            part = os.read(self.read, 1 << 20)
            if not part:
                raise Problem("the browser has ended")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        if "id" in message:
            self.answers[message["id"]] = message
        elif message.get("sessionId") in self.sessions:
            self.sessions[message["sessionId"]](message["method"], message["params"])
        return True

    def call(self, method, session=None, timeout=30, **params):
        """Calls a method of the protocol and returns its result."""
        self.last += 1
        mine = self.last
        message = {"id": mine, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write, data):]
        deadline = time.monotonic() + timeout
        while mine not in self.answers:
            if not self.receive(deadline):
                raise Problem(f"{method}: no answer in {timeout} s")
        answer = self.answers.pop(mine)
        if "error" in answer:
            raise Problem(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def page(self, url, **options):
        """Opens a page in its own context, so that pages share nothing."""
        return Page(self, url, **options)


class Page:
    """A page. `log` has what the browser complains about: violations of the policy, errors."""

    def __init__(self, browser, url, width=1440, height=1000, scale=1, media=(), permissions=True):
        self.browser, self.log = browser, []
        self.context = browser.call("Target.createBrowserContext")["browserContextId"]
        target = browser.call("Target.createTarget", url="about:blank",
                              browserContextId=self.context)["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target,
                                    flatten=True)["sessionId"]
        browser.sessions[self.session] = self.heard
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        if permissions:
            browser.call("Browser.grantPermissions", origin="/".join(url.split("/")[:3]),
                         browserContextId=self.context,
                         permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        self.resize(width, height, scale)
        self.media(*media)
        self.call("Page.addScriptToEvaluateOnNewDocument", source=browser.script)
        self.call("Page.navigate", url=url)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.sessions.pop(self.session, None)
        self.browser.call("Target.disposeBrowserContext", browserContextId=self.context)

    def heard(self, method, params):
        if method == "Log.entryAdded":
            entry = params["entry"]
            self.log.append(f"{entry['source']}: {entry['text']} {entry.get('url', '')}")
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.log.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.log.append(" ".join(str(a.get("value")) for a in params["args"]))

    def call(self, method, **params):
        return self.browser.call(method, session=self.session, **params)

    def resize(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=scale, mobile=False)

    def media(self, *features):
        """Such as ("prefers-color-scheme", "dark")."""
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": name, "value": value} for name, value in features])

    def eval(self, expression):
        """The value of an expression of JavaScript in the page; a promise is waited for."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True, userGesture=True,
                           allowUnsafeEvalBlockedByCSP=False)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Problem(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def until(self, expression, timeout=10):
        """Waits until the expression is true, and returns its value."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                value = self.eval(expression)
            except Problem as problem:
                value, said = None, str(problem)
            else:
                said = repr(value)
            if value:
                return value
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {timeout} s: {expression}: {said}")
            time.sleep(0.03)

    def key(self, key, code=None, text=None):
        codes = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
                 "ArrowDown": 40, "Tab": 9}
        more = {"windowsVirtualKeyCode": codes[key]} if key in codes else {"text": text or key}
        if key == "Enter":
            more["text"] = "\r"
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=code or key, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=code or key)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, path, **clip):
        more = {"clip": {**clip, "scale": 1}} if clip else {}
        data = self.call("Page.captureScreenshot", format="png", timeout=60, **more)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
