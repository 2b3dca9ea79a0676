"""A real browser for tests: Chromium, driven through chromedriver with the standard library alone.

One browser shows many pages, at any width, light or dark. Of each it says what was printed to the console and what the
network was asked for. A script of the test's own can look for more.
"""

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = next(filter(None, map(shutil.which, PROGRAMS)), None)
DRIVER = shutil.which("chromedriver")
# The marks of tests that drive a page. They are slow: a browser takes the processors while other tests wait.
NEEDED = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
    pytest.mark.skipif(DRIVER is None, reason="no chromedriver is installed"),
]
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
PATIENCE = 180  # seconds for one answer of the driver


class Browser:
    """One running browser."""

    def __init__(self, address: str, profile: Path):
        self.address = address
        options = {"binary": CHROMIUM, "args": [*ARGUMENTS, f"--user-data-dir={profile}"]}
        logs = {"browser": "ALL", "performance": "ALL"}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": logs}
        wanted["timeouts"] = {"script": 1000 * PATIENCE, "pageLoad": 1000 * PATIENCE}
        session = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.address += f"/session/{session['sessionId']}"

    def show(self, address: str, *, width: int = 1280, dark: bool = False, media: str = "") -> None:
        """Open a page. What earlier pages said and asked for is forgotten."""
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.command("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self._ask("POST", "/url", {"url": "about:blank"})
        self._log("browser")
        self._log("performance")
        self._ask("POST", "/url", {"url": address})

    def reload(self) -> None:
        """The page once more, in its own process: another one may not yet see what this page stored a moment ago."""
        self._ask("POST", "/refresh", {})

    def run(self, script: str, *arguments):
        """Run a script in the page; the value it returns. A promise is waited for."""
        return self._ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def complaints(self) -> list[str]:
        """The errors and warnings that the page printed to the console."""
        return [entry["message"] for entry in self._log("browser") if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self) -> list[str]:
        """The addresses that the page asked for, itself among them, pictures inside it not."""
        messages = [json.loads(entry["message"])["message"] for entry in self._log("performance")]
        sent = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        return [url for url in sent if not url.startswith(("data:", "about:"))]

    def picture(self, path: Path) -> None:
        """A picture of the whole page."""
        import base64

        taken = self.command("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(taken["data"]))

    def command(self, name: str, **parameters):
        """A command of the Chrome DevTools Protocol."""
        return self._ask("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def close(self) -> None:
        self._ask("DELETE", "", None)

    def _log(self, kind: str) -> list[dict]:
        return self._ask("POST", "/se/log", {"type": kind})

    def _ask(self, method: str, path: str, content: dict | None):
        data = None if content is None else json.dumps(content).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.address + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            said = json.load(error)["value"]
            raise AssertionError(f"{said['error']}: {said['message']}") from None


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A browser with a profile of its own, which ends with the block."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    driver = subprocess.Popen(
        [DRIVER, f"--port={port}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"},
    )
    try:
        _wait_for(port, driver)
        shown = Browser(f"http://127.0.0.1:{port}", profile)
        try:
            yield shown
        finally:
            shown.close()
    finally:
        driver.terminate()
        driver.wait(timeout=PATIENCE)


def _wait_for(port: int, driver: subprocess.Popen) -> None:
    """Until the driver answers at its port."""
    for _ in range(600):
        assert driver.poll() is None, "chromedriver ended at once"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("chromedriver does not answer")
