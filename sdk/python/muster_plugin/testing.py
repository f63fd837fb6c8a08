"""For tests of plugins: models without a controller, and plugins called without a process.

    model = FakeModel(types=[...], items={"deployments": {"type": ..., ...}})
    tasks = Harness(MyPlugin, model).create_configuration()

Types are documents as Muster sends them in `initialize`; load_types() reads what
`muster plugin types DIR` prints. An item is a dict: `type`, `properties`, `applied`, `state`,
`inherit` (a path) and `indeterminable` are about it, `class` makes it a "collection" or
"ref-collection", and every other key is a child.
"""

from __future__ import annotations

import io
import json
from typing import Any, Iterator, Optional

from .model import COLLECTION, INDETERMINABLE, REF_COLLECTION, STATES, WAS_APPLIED, Schema
from .plugin import Plugin
from .server import Server

_ABOUT = frozenset(("type", "properties", "applied", "state", "inherit", "indeterminable", "class"))


def load_types(path: str) -> list[dict[str, Any]]:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class FakeModel:
    """Rows as Muster would send them."""

    def __init__(self, types: list[dict[str, Any]], items: dict[str, Any],
                 revision: int = 1) -> None:
        self.types = sorted(types, key=lambda document: document["id"])
        self.schema = Schema(self.types)
        self.revision = revision
        self._type_numbers = {document["id"]: n for n, document in enumerate(self.types)}
        self._numbers: dict[str, int] = {}
        self._sources: dict[int, str] = {}
        self.rows: list[list[Any]] = []
        self._add(-1, "", "/", {"type": "root", **items})
        for number, source in self._sources.items():
            self.rows[number][5] = self._numbers[source]

    def _add(self, parent: int, item_id: str, path: str, item: dict[str, Any]) -> None:
        number = len(self.rows)
        self._numbers[path] = number
        flags = {"collection": COLLECTION, "ref-collection": REF_COLLECTION}.get(
            item.get("class", ""), 0)
        if item.get("indeterminable"):
            flags |= INDETERMINABLE
        if "applied" in item:
            flags |= WAS_APPLIED
        if "inherit" in item:
            self._sources[number] = item["inherit"]
        row: list[Any] = [parent, item_id, self._type_numbers[item["type"]],
                          STATES.index(item.get("state", "Initial")), flags, -1,
                          dict(item.get("properties", {}))]
        if "applied" in item:
            row.append(dict(item["applied"]))
        self.rows.append(row)
        for name in sorted(key for key in item if key not in _ABOUT):
            child_path = ("" if path == "/" else path) + "/" + name
            self._add(number, name, child_path, item[name])


class Harness:
    """Calls a plugin as Muster does, over the protocol, in this process."""

    def __init__(self, plugin: type[Plugin], model: FakeModel, pack: str = "test",
                 running: bool = True) -> None:
        self._plugin = plugin
        self._model = model
        self._pack = pack
        self._running = running
        self.log: list[str] = []
        self.writes: list[dict[str, Any]] = []

    def call(self, method: str, /, **params: Any) -> Any:
        """The result; an error of the plugin is raised as RuntimeError with its code and text."""
        conversation = _Conversation(self, method, {"model": self._model.revision, **params})
        Server(self._plugin, conversation, conversation).serve()  # type: ignore[arg-type]
        answer = conversation.answer
        if answer is None:
            raise RuntimeError("no answer")
        if "error" in answer:
            raise RuntimeError(f"{answer['error']['code']}: {answer['error']['message']}")
        if method == "create_configuration":
            return conversation.tasks + answer["result"]["tasks"]
        return answer["result"]

    def create_configuration(self) -> list[dict[str, Any]]:
        return self.call("create_configuration")

    def validate_model(self) -> list[dict[str, Any]]:
        return self.call("validate_model")["errors"]

    def handle(self, method: str, params: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """What Muster would say to a request of the plugin; the answer comes last."""
        if method == "model":
            yield {"method": "items", "params": {"items": json.loads(json.dumps(self._model.rows))}}
            yield {"result": {"revision": self._model.revision, "items": len(self._model.rows)}}
        elif method == "write":
            self.writes.append(params)
            yield {"result": {}}
        elif method == "is_running":
            yield {"result": {"running": self._running}}
        else:
            yield {"error": {"code": -32601, "message": f"no {method} in tests"}}

    def greeting(self) -> dict[str, Any]:
        return {"protocol": 1, "pack": self._pack, "pack_version": "1.0",
                "types": self._model.types}


class _Conversation(io.RawIOBase):
    """Both ends of the line: what the plugin writes decides what it reads next."""

    def __init__(self, harness: Harness, method: str, params: dict[str, Any]) -> None:
        super().__init__()
        self._harness = harness
        self._call: Optional[dict[str, Any]] = {"id": 2, "method": method, "params": params}
        self._lines = [{"id": 1, "method": "initialize", "params": harness.greeting()}]
        self.answer: Optional[dict[str, Any]] = None
        self.tasks: list[dict[str, Any]] = []

    def readline(self, size: Optional[int] = -1) -> bytes:
        if not self._lines:
            return b""
        return json.dumps({"jsonrpc": "2.0", **self._lines.pop(0)}).encode() + b"\n"

    def write(self, data: Any) -> int:
        message = json.loads(bytes(data))
        if "method" not in message:
            self._take_answer(message)
        elif message["method"] == "log":
            self._harness.log.append(message["params"]["message"])
        elif message["method"] == "tasks":
            self.tasks.extend(message["params"]["tasks"])
        else:
            for line in self._harness.handle(message["method"], message["params"]):
                self._lines.append(line if "method" in line else {"id": message["id"], **line})
        return len(data)

    def _take_answer(self, message: dict[str, Any]) -> None:
        if self._call is None or "error" in message:
            self.answer = message
        else:
            self._lines.append(self._call)
            self._call = None

    def flush(self) -> None:
        pass
