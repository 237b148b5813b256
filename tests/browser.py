"""A page in headless Chromium, driven by the protocol of its developer tools."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import uvicorn
from websockets.sync.client import connect

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
_PATIENCE = 30.0


class Page:
    """A page that is open, and the errors that its console has told of.

    Args:
        profile: a new folder for what the browser keeps.
        size: width and height of the window.
    """

    def __init__(self, profile: Path, size: tuple[int, int] = (1200, 900)) -> None:
        assert CHROMIUM is not None
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._numbers = itertools.count(1)
        self._open = contextlib.ExitStack()
        self._browser = subprocess.Popen(
            [CHROMIUM, *_FLAGS, f"--user-data-dir={profile}", "--remote-debugging-port=0"],
            stderr=subprocess.DEVNULL,
        )
        self._open.callback(self._browser.wait)
        self._open.callback(self._browser.terminate)
        port_file = profile / "DevToolsActivePort"
        until(lambda: port_file.exists() and port_file.read_text().count("\n") >= 1)
        port, path = port_file.read_text().split()
        url = f"ws://127.0.0.1:{port}{path}"
        self._socket = self._open.enter_context(connect(url, max_size=2**26, proxy=None))
        self._session: str | None = None
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        attached = self._call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        width, height = size
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def __enter__(self) -> Page:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    def open(self, url: str) -> None:
        """Load a page and wait until it says that it is ready."""
        self._call("Page.navigate", url=url)
        self.wait("document.body?.dataset.ready === 'yes'")

    def run(self, expression: str) -> Any:
        """The value of an expression of JavaScript."""
        answer = self._call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, expression: str) -> None:
        """Wait until an expression is true."""
        until(lambda: self.run(expression), expression)

    def click(self, selector: str) -> None:
        """Click with the mouse in the middle of an element, which has to be in sight."""
        found = json.dumps(selector)
        x, y = self.run(
            f"(() => {{ const e = document.querySelector({found});"
            "e.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const r = e.getBoundingClientRect();"
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """Press a key."""
        text = {"text": key} if len(key) == 1 else {}
        self._call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def picture(self, path: Path) -> None:
        """Write what is seen as a PNG file."""
        data = self._call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        self._socket.send(json.dumps(message))
        while True:
            answer = json.loads(self._socket.recv(_PATIENCE))
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]
            self._note(answer.get("method"), answer.get("params", {}))

    def _note(self, event: str, told: dict[str, Any]) -> None:
        if event == "Runtime.exceptionThrown":
            self.errors.append(str(told["exceptionDetails"]))
        elif event == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.errors.append(str(told["entry"]))
        elif event == "Runtime.consoleAPICalled" and told["type"] == "error":
            self.errors.append(str(told["args"]))
        elif event == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])


def until(holds: Any, what: object = None) -> None:
    """Wait until something holds.

    Raises:
        TimeoutError: it does not in time.
    """
    end = time.monotonic() + _PATIENCE
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"waited in vain: {what}")
        time.sleep(0.02)


@contextlib.contextmanager
def served(app: Any) -> Iterator[str]:
    """An application served on a free port of this machine: its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        until(lambda: server.started)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
