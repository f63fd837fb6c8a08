"""Messages of the plugin protocol: JSON-RPC 2.0, one message a line."""

from __future__ import annotations

import json
from typing import Any, BinaryIO, Callable, Optional

from .errors import RequestError

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REFUSED = 1
OUT_OF_MEMORY = 2
STOPPED = 3

Notification = Callable[[str, dict[str, Any]], None]


class Closed(Exception):
    """Muster has nothing more to say."""


class Peer:
    """The other side of the line. Used by one thread."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader = reader
        self._writer = writer
        self._last_id = 0

    def read(self) -> dict[str, Any]:
        line = self._reader.readline()
        if not line:
            raise Closed
        message = json.loads(line)
        if not isinstance(message, dict):
            raise ValueError("a message is one JSON object")
        return message

    def write(self, message: dict[str, Any]) -> None:
        message["jsonrpc"] = "2.0"
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        self._writer.write(text.encode("utf-8", "replace") + b"\n")
        self._writer.flush()

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self.write({"method": method, "params": params})

    def answer(self, request_id: Any, result: Any) -> None:
        self.write({"id": request_id, "result": result})

    def refuse(self, request_id: Any, code: int, message: str) -> None:
        self.write({"id": request_id, "error": {"code": code, "message": message}})

    def request(self, method: str, params: dict[str, Any],
                on_notification: Optional[Notification] = None) -> Any:
        """Asks Muster and waits for the answer; what it sends before goes to `on_notification`."""
        self._last_id += 1
        self.write({"id": self._last_id, "method": method, "params": params})
        while True:
            message = self.read()
            if "method" in message:
                if "id" in message:
                    raise ValueError("Muster called while it was being asked")
                if on_notification is not None:
                    on_notification(message["method"], message.get("params", {}))
                continue
            if message.get("id") != self._last_id:
                raise ValueError(f"an answer to {message.get('id')!r}, which nobody asked")
            if "error" in message:
                error = message["error"]
                raise RequestError(error.get("code", INTERNAL_ERROR), error.get("message", ""))
            return message.get("result")
