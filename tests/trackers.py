"""Gitea, GitHub and a webhook on the loopback; each real request is checked against the API.

A request that the published description does not allow is a violation, and every test must end with
none.
"""

import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

FOLDER = Path(__file__).parent / "fixtures" / "api"
TOKEN = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = "team/project"
LARGEST_PAGE = 50

os.environ |= {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}  # of whoever runs the tests


@dataclass(frozen=True)
class Request:
    """A request as received."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any = None


@dataclass(frozen=True)
class Reply:
    """The response."""

    status: int
    body: object = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None


Answering = Callable[[Request], Reply | None]


class Service:
    """Remembers every request; `answering` decides."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.special: Answering = lambda _: None
        """Asked first, so that a test can inject a failure."""
        self.url = ""
        self.silence = threading.Event()
        """Until it is set, a `Reply` with status 0 is never sent."""

    def answer(self, request: Request) -> Reply:
        self.requests.append(request)
        return self.special(request) or self.usual(request)

    def usual(self, request: Request) -> Reply:
        return Reply(204)

    def asked(self, method: str, end: str = "") -> list[Request]:
        return [r for r in self.requests if r.method == method and r.path.endswith(end)]


class TrackerService(Service):
    """One repository, with labels, issues and comments."""

    def __init__(self, kind: Literal["gitea", "github"]) -> None:
        super().__init__()
        self.kind = kind
        self.spec = json.loads((FOLDER / f"{kind}.json").read_text())
        self.base = self.spec.get("basePath", "")
        self.labels: list[dict[str, Any]] = []
        self.issues: list[dict[str, Any]] = []
        self.comments: list[tuple[int, str]] = []
        self.violations: list[str] = []

    def add_labels(self, *names: str) -> None:
        for name in names:
            self.labels.append({"id": 100 + len(self.labels), "name": name, "color": "ffffff"})

    def answer(self, request: Request) -> Reply:
        wrong = list(self._violations(request))
        self.violations += wrong
        return Reply(400, {"message": "; ".join(wrong)}) if wrong else super().answer(request)

    def usual(self, request: Request) -> Reply:
        scheme = {"gitea": "token", "github": "Bearer"}[self.kind]
        if request.headers.get("authorization") != f"{scheme} {TOKEN}":
            return Reply(401, {"message": "Bad credentials"})
        rest = request.path.removeprefix(f"{self.base}/repos/{REPOSITORY}")
        if rest == request.path:
            return Reply(404, {"message": "Not Found"})
        match request.method, rest.strip("/").split("/"):
            case "GET", ["labels"]:
                return Reply(200, self._page(request, self.labels))
            case "POST", ["labels"]:
                if any(label["name"] == request.body["name"] for label in self.labels):
                    return Reply(422, {"message": "already_exists"})
                self.add_labels(request.body["name"])
                return Reply(201, self.labels[-1])
            case "GET", ["issues"]:
                return Reply(200, self._page(request, self.issues[::-1]))
            case "GET", ["issues", number] if int(number) <= len(self.issues):
                return Reply(200, self.issues[int(number) - 1])
            case "POST", ["issues"]:
                return self._open(request.body)
            case "PATCH", ["issues", number]:
                issue = self.issues[int(number) - 1]
                issue.update(request.body)
                return Reply(201 if self.kind == "gitea" else 200, issue)
            case "POST", ["issues", number, "labels"]:
                return self._label(self.issues[int(number) - 1], request.body["labels"])
            case "DELETE", ["issues", number, "labels", label]:
                issue, by = self.issues[int(number) - 1], "id" if self.kind == "gitea" else "name"
                gone = unquote(label)  # names match in any case
                issue["labels"] = [one for one in issue["labels"] if str(one[by]).lower() != gone]
                return Reply(204) if self.kind == "gitea" else Reply(200, issue["labels"])
            case "POST", ["issues", number, "comments"] if int(number) <= len(self.issues):
                self.comments.append((int(number), request.body["body"]))
                return Reply(201, {"id": 1, "html_url": f"{self.url}/{REPOSITORY}/c/1"})
        return Reply(404, {"message": "Not Found"})

    def _open(self, body: dict[str, Any]) -> Reply:
        by = "id" if self.kind == "gitea" else "name"
        known = {label[by]: label for label in self.labels}
        if not all(label in known for label in body.get("labels", [])):
            return Reply(422, {"message": "unknown label"})
        number = len(self.issues) + 1
        issue = {
            "id": 1000 + number,
            "number": number,
            "state": "open",
            "html_url": f"{self.url}/{REPOSITORY}/issues/{number}",
            **body,
            "labels": [known[label] for label in body.get("labels", [])],
        }
        self.issues.append(issue)
        return Reply(201, issue)

    def _label(self, issue: dict[str, Any], added: list[Any]) -> Reply:
        by = "id" if self.kind == "gitea" else "name"
        new = [label for label in self.labels if label[by] in added]
        issue["labels"] += [label for label in new if label not in issue["labels"]]
        return Reply(200, issue["labels"])

    def _page(self, request: Request, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        wanted = int(request.query.get("limit") or request.query.get("per_page") or 30)
        size = min(wanted, LARGEST_PAGE)
        start = (int(request.query.get("page", 1)) - 1) * size
        return items[start : start + size]

    # -- the interface -------------------------------------------------------------------------

    def _violations(self, request: Request) -> Iterator[str]:
        at = f"{request.method} {request.path}"
        if not request.headers.get("user-agent"):
            yield f"{at}: no User-Agent"
        if not request.path.startswith(f"{self.base}/"):
            yield f"{at}: outside of {self.base}"
            return
        found = self._operation(request)
        if found is None:
            yield f"{at}: not in the interface"
            return
        operation, values = found
        parameters = [self._resolved(p) for p in operation.get("parameters", [])]
        by_name = {p["name"]: p for p in parameters if p["in"] in ("path", "query")}
        for name, value in {**values, **request.query}.items():
            if name not in by_name:
                yield f"{at}: no parameter {name}"
                continue
            schema = by_name[name].get("schema", by_name[name])
            if schema["type"] == "integer" and not value.isdigit():
                yield f"{at}: {name} is no integer"
            if value not in schema.get("enum", [value]):
                yield f"{at}: {name} is {value}"
        schema = self._body_schema(operation, parameters)
        if (schema is None) != (request.body is None):
            yield f"{at}: body {request.body!r}"
        elif schema is not None:
            if request.headers.get("content-type") != "application/json":
                yield f"{at}: body is not sent as JSON"
            for problem in self._mismatches(request.body, schema, "body"):
                yield f"{at}: {problem}"

    def _operation(self, request: Request) -> tuple[dict[str, Any], dict[str, str]] | None:
        for template, methods in self.spec["paths"].items():
            pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", template)
            match = re.fullmatch(pattern, request.path.removeprefix(self.base))
            if match and request.method.lower() in methods:
                return methods[request.method.lower()], match.groupdict()
        return None

    def _body_schema(
        self, operation: dict[str, Any], parameters: list[dict[str, Any]]
    ) -> dict[str, Any] | None:
        for parameter in parameters:
            if parameter["in"] == "body":
                return dict(parameter["schema"])
        body = operation.get("requestBody")
        return dict(body["content"]["application/json"]["schema"]) if body else None

    def _resolved(self, value: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in value:
            target = self.spec
            for part in value["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            value = target
        return value

    def _mismatches(self, value: object, schema: dict[str, Any], at: str) -> Iterator[str]:
        schema = self._resolved(schema)
        if "oneOf" in schema:
            if not any(not list(self._mismatches(value, s, at)) for s in schema["oneOf"]):
                yield f"{at}: {value!r} fits nothing"
            return
        if "enum" in schema and value not in schema["enum"]:
            yield f"{at}: {value!r} is not one of {schema['enum']}"
        types: dict[str, type] = {
            "object": dict,
            "array": list,
            "string": str,
            "integer": int,
            "boolean": bool,
        }
        if not isinstance(value, types[schema["type"]]):
            yield f"{at}: {value!r} is no {schema['type']}"
        elif isinstance(value, dict):
            yield from (f"{at}: no {n}" for n in schema.get("required", []) if n not in value)
            for name, inner in value.items():
                if name not in schema["properties"]:
                    yield f"{at}: unknown {name}"
                else:
                    yield from self._mismatches(inner, schema["properties"][name], f"{at}.{name}")
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                yield from self._mismatches(inner, schema["items"], f"{at}[{index}]")


@contextmanager
def served(service: Service) -> Iterator[None]:
    """Answer on the loopback until the block is left."""

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = self.rfile.read(length)
            parts = urlsplit(self.path)
            reply = service.answer(
                Request(
                    self.command,
                    parts.path,
                    dict(parse_qsl(parts.query)),
                    {name.lower(): value for name, value in self.headers.items()},
                    json.loads(body) if body else None,
                )
            )
            if reply.status == 0:
                service.silence.wait(30)
                return
            raw = reply.raw
            if raw is None:
                raw = b"" if reply.body is None else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            try:
                self.wfile.write(raw)
            except OSError:
                return  # the client has read enough

        do_GET = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815  the base class names them

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            return

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            return  # a client that goes away

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        service.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield
        finally:
            service.silence.set()
            server.shutdown()
            thread.join()
