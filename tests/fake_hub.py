"""A hub on this machine, for the real client to talk to: models with their files, gated and missing ones.

It answers as huggingface.co does as far as the client looks: the model's record, the headers of a file, the codes of
errors. It does not show what the real hub does beside: redirects to a store of large files, rate limits, tokens.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class FakeHub:
    """models: name to folder.  gated: names that nobody may download.  broken: answer everything with 503."""

    models: dict[str, Path]
    gated: set[str] = field(default_factory=set)
    broken: bool = False
    asked: list[str] = field(default_factory=list)
    address: str = ""

    def answer(self, path: str) -> tuple[int, dict, bytes]:
        """(status, headers, body) for the path of a request."""
        self.asked.append(path)
        if self.broken:
            return 503, {}, b"overloaded"
        parts = path.partition("?")[0].strip("/").split("/")
        api = parts[:2] == ["api", "models"]
        parts = parts[2:] if api else parts
        name = "/".join(parts[:2])
        rest = parts[2:]
        if name not in self.models:
            return 401, {"X-Error-Code": "RepoNotFound"}, b"Repository not found"
        if name in self.gated and (not api or rest == ["auth-check"]):
            return 403, {"X-Error-Code": "GatedRepo"}, b"gated"
        if rest[:1] in (["revision"], ["resolve"]) and rest[1] not in ("main", "v1", COMMIT):
            return 404, {"X-Error-Code": "RevisionNotFound"}, b"no such revision"
        if api and rest[:1] == ["tree"]:
            return self.tree(name) if len(rest) == 2 else (404, {"X-Error-Code": "EntryNotFound"}, b"no such folder")
        if api:
            return 200, {"Content-Type": "application/json"}, self.record(name)
        return self.file(self.models[name] / "/".join(rest[2:]))

    def record(self, name: str) -> bytes:
        files = sorted(path for path in self.models[name].iterdir() if path.is_file())
        siblings = [{"rfilename": path.name, "size": path.stat().st_size} for path in files]
        record = {"id": name, "sha": COMMIT, "siblings": siblings, "gated": "manual" if name in self.gated else False}
        return json.dumps(record).encode()

    def tree(self, name: str) -> tuple[int, dict, bytes]:
        files = [path for path in self.models[name].iterdir() if path.is_file()]
        entries = [{"type": "file", "path": path.name, "size": path.stat().st_size, "oid": path.name} for path in files]
        return 200, {"Content-Type": "application/json"}, json.dumps(entries).encode()

    def file(self, path: Path) -> tuple[int, dict, bytes]:
        if not path.is_file():
            return 404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT}, b"no such file"
        body = path.read_bytes()
        return 200, {"X-Repo-Commit": COMMIT, "ETag": f'"{hashlib.sha256(body).hexdigest()}"'}, body


@contextmanager
def running(hub: FakeHub) -> Iterator[FakeHub]:
    """The hub answers at `hub.address` inside the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            status, headers, body = hub.answer(self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.address = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
