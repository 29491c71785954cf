"""A headless Chromium that is spoken to over a pipe."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from typing import Any, Optional

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def find() -> Optional[str]:
    """The program in $ANYSHAPE_CHROMIUM, or one on the path."""
    wanted = os.environ.get("ANYSHAPE_CHROMIUM")
    return wanted or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    def __init__(self, program: str):
        self.home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self.to_write = os.pipe()
        self.from_read, to_tell = os.pipe()
        words = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
                 f"--user-data-dir={self.home.name}", "--window-size=1400,900", "about:blank"]
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec 3<&{to_read} 4>&{to_tell}; exec "$0" "$@"', program, *words],
            pass_fds=(to_read, to_tell), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_tell)
        self.rest, self.count, self.events = b"", 0, []  # type: bytes, int, list[dict[str, Any]]
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = None
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Network", "Log":
            self.ask(f"{domain}.enable")

    session: Optional[str] = None

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        while (told := self._next()).get("id") != self.count:
            self.events.append(told)
        if "error" in told:
            raise RuntimeError(f"{method}: {told['error']}")
        return told["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            read = os.read(self.from_read, 1 << 20)
            if not read:
                raise RuntimeError("the browser has ended")
            self.rest += read
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def open(self, url: str) -> None:
        self.ask("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def value(self, expression: str) -> Any:
        """What the page says; promises are waited for."""
        told = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in told:
            raise RuntimeError(json.dumps(told["exceptionDetails"]))
        return told["result"].get("value")

    def press(self, x: float, y: float) -> None:
        for kind in "mousePressed", "mouseReleased":
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, name: str, code: int) -> None:
        """`code` is that of Windows, which pages are told."""
        text = {"text": name if len(name) == 1 else "\r"} if len(name) == 1 or name == "Enter" else {}
        for kind in "keyDown", "keyUp":
            self.ask("Input.dispatchKeyEvent", type=kind, key=name, windowsVirtualKeyCode=code,
                     **(text if kind == "keyDown" else {}))  # fmt: skip

    def picture(self) -> bytes:
        return base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])

    def happened(self, method: str) -> list[dict[str, Any]]:
        return [event["params"] for event in self.events if event.get("method") == method]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.home.cleanup()
