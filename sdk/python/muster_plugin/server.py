"""Serves a plugin over standard input and output."""

from __future__ import annotations

import gc
import os
import sys
import traceback
from typing import Any, BinaryIO, Iterable, Optional

from .errors import PlanStoppedException, PluginError
from .model import Model, Schema
from .plugin import (METHODS, CallbackApi, Plugin, PluginContext, ValidationError, callbacks_of,
                     marked, overridden)
from .rpc import (INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, OUT_OF_MEMORY, REFUSED, STOPPED,
                  Closed, Peer)
from .tasks import begin_call, encode, flatten, lock_pair

PROTOCOL = 1
TASKS_AT_ONCE = 500


class InvalidParams(Exception):
    """The parameters of a call cannot be used."""


class Server:
    """Answers the calls of Muster, one after the other."""

    def __init__(self, plugin: type[Plugin], reader: BinaryIO, writer: BinaryIO) -> None:
        self._class = plugin
        self._peer = Peer(reader, writer)
        self._pack = ""
        self._schema: Optional[Schema] = None
        self._kept: Optional[Model] = None

    def serve(self) -> None:
        while True:
            try:
                message = self._peer.read()
            except Closed:
                return
            if "id" not in message:
                continue
            # A call makes very many objects and hardly any circle of them; looking for circles
            # would take half of its time.
            gc.disable()
            try:
                self._answer(message["id"], message.get("method"), message.get("params", {}))
            finally:
                gc.enable()

    def _answer(self, request_id: Any, method: Any, params: Any) -> None:
        try:
            handler = self._find(method)
            if handler is None:
                self._peer.refuse(request_id, METHOD_NOT_FOUND, f"there is no method {method!r}")
                return
            if not isinstance(params, dict):
                raise InvalidParams("params must be an object")
            begin_call()
            self._peer.answer(request_id, handler(params))
        except InvalidParams as error:
            self._peer.refuse(request_id, INVALID_PARAMS, str(error))
        except PlanStoppedException as error:
            self._peer.refuse(request_id, STOPPED, str(error))
        except PluginError as error:
            self._peer.refuse(request_id, REFUSED, str(error))
        except MemoryError:
            self._kept = None
            self._peer.refuse(request_id, OUT_OF_MEMORY, "its memory is exhausted")
        except Closed:
            raise
        except Exception as error:  # whatever the plugin's own code raises
            traceback.print_exc(file=sys.stderr)
            self._peer.refuse(request_id, INTERNAL_ERROR, describe(error))

    def _find(self, method: Any) -> Any:
        if method == "initialize":
            return self._initialize
        if self._schema is None:
            return None
        known = {"check": self._check, "view": self._view, "callback": self._callback}
        if method in known:
            return known[method]
        if method in METHODS and method in overridden(self._class):
            return getattr(self, "_" + method)
        return None

    def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        if params.get("protocol") != PROTOCOL:
            raise InvalidParams(f"protocol {params.get('protocol')!r}; this SDK speaks {PROTOCOL}")
        types = params.get("types")
        if not isinstance(types, list):
            raise InvalidParams("'types' must be a list")
        self._pack = str(params.get("pack", ""))
        self._schema = Schema(types)
        checks = marked(self._class, "property_validator", "item_validator")
        views = marked(self._class, "view")
        callbacks = callbacks_of(self._class)
        methods = overridden(self._class)
        methods += [name for name, there in (("check", checks), ("view", views),
                                             ("callback", callbacks)) if there]
        return {"protocol": PROTOCOL, "name": self._pack,
                "version": self._class.version or str(params.get("pack_version", "")),
                "methods": methods, "checks": checks, "views": views, "callbacks": callbacks}

    # One object a call, so that calls cannot lean on each other.

    def _make(self) -> Plugin:
        plugin = self._class()
        setattr(plugin, "_pack", self._pack)
        return plugin

    def _context(self, plugin: Plugin, params: dict[str, Any], may_write: bool = False,
                 kind: type[PluginContext] = PluginContext) -> Any:
        revision = params.get("model")
        if not isinstance(revision, int):
            raise InvalidParams("'model' must be the revision of the model")
        assert self._schema is not None
        # A callback may see secrets, so it neither takes over a model nor leaves one behind.
        kept = None if may_write else self._kept
        return kind(self._peer, self._schema, plugin, revision, kept, may_write)

    def _keep(self, context: PluginContext) -> None:
        if context.kept_model is not None:
            self._kept = context.kept_model

    def _update_model(self, params: dict[str, Any]) -> dict[str, Any]:
        plugin = self._make()
        plugin.update_model(self._context(plugin, params, may_write=True))
        return {}

    def _validate_model(self, params: dict[str, Any]) -> dict[str, Any]:
        plugin = self._make()
        context = self._context(plugin, params)
        errors = []
        found = plugin.validate_model(context)
        if not isinstance(found, Iterable) and found is not None:
            raise TypeError("validate_model answers with a list of ValidationErrors, or with "
                            f"nothing, not {found!r}")
        for error in found or ():
            if not isinstance(error, ValidationError):
                raise TypeError(f"validate_model answers with ValidationErrors, not {error!r}")
            errors.append(error.document())
        self._keep(context)
        return {"errors": errors}

    def _create_configuration(self, params: dict[str, Any]) -> dict[str, Any]:
        plugin = self._make()
        context = self._context(plugin, params)
        tasks = flatten(plugin.create_configuration(context))
        numbers = {id(task): number for number, task in enumerate(tasks)}
        for begin in range(0, len(tasks), TASKS_AT_ONCE):
            part = tasks[begin:begin + TASKS_AT_ONCE]
            self._peer.notify("tasks", {"tasks": [task.document(numbers) for task in part]})
        self._keep(context)
        return {"tasks": []}

    def _create_lock_tasks(self, params: dict[str, Any]) -> Any:
        plugin = self._make()
        context = self._context(plugin, params)
        node = context.query_by_path(_text(params, "node"))
        if node is None:
            raise InvalidParams(f"there is no item {params['node']!r}")
        pair = lock_pair(plugin.create_lock_tasks(context, node))
        self._keep(context)
        if pair is None:
            return None
        return {"lock": pair[0].document({}), "unlock": pair[1].document({})}

    def _function(self, plugin: Plugin, name: str, *marks: str) -> Any:
        if name not in marked(self._class, *marks):
            raise InvalidParams(f"the plugin has no {' or '.join(marks)} {name!r}")
        return getattr(plugin, name)

    def _check(self, params: dict[str, Any]) -> dict[str, Any]:
        plugin = self._make()
        checks = params.get("checks")
        if not isinstance(checks, list):
            raise InvalidParams("'checks' must be a list")
        problems = []
        for check in checks:
            if not isinstance(check, dict):
                raise InvalidParams("a check must be an object")
            name = _text(check, "method")
            if "properties" in check:
                problem = self._function(plugin, name, "item_validator")(dict(check["properties"]))
            else:
                problem = self._function(plugin, name, "property_validator")(_text(check, "value"))
            if problem is not None and not isinstance(problem, str):
                raise TypeError(f"{name} answers with a text or None, not {problem!r}")
            problems.append(problem or "")
        return {"problems": problems}

    def _view(self, params: dict[str, Any]) -> dict[str, Any]:
        plugin = self._make()
        context = self._context(plugin, params)
        function = self._function(plugin, _text(params, "method"), "view")
        item = context.query_by_path(_text(params, "path"))
        if item is None:
            raise InvalidParams(f"there is no item {params['path']!r}")
        value = function(context, item)
        self._keep(context)
        return {"value": encode(value, lambda: f"view {params['method']} of {item.vpath}")}

    def _callback(self, params: dict[str, Any]) -> dict[str, Any]:
        plugin = self._make()
        api = self._context(plugin, params, may_write=True, kind=CallbackApi)
        name = _text(params, "method")
        if name not in callbacks_of(self._class):
            raise InvalidParams(f"the plugin has no callback {name!r}")
        arguments = params.get("arguments", {})
        if not isinstance(arguments, dict):
            raise InvalidParams("'arguments' must be an object")
        getattr(plugin, name)(api, *arguments.get("args", []), **arguments.get("kwargs", {}))
        return {}


def describe(error: BaseException) -> str:
    """What was raised, and where in the plugin's own code."""
    frames = traceback.extract_tb(error.__traceback__)
    here = os.path.dirname(os.path.abspath(__file__))
    own = [frame for frame in frames if os.path.dirname(os.path.abspath(frame.filename)) != here]
    where = f" ({os.path.basename(own[-1].filename)}:{own[-1].lineno})" if own else ""
    return f"{type(error).__name__}: {error}{where}"


def _text(params: dict[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise InvalidParams(f"'{name}' must be a text")
    return value


def run(plugin: type[Plugin]) -> None:
    """The whole life of a plugin's program. Whatever it prints goes to the log."""
    reader = os.fdopen(os.dup(0), "rb", buffering=1 << 20)
    writer = os.fdopen(os.dup(1), "wb", buffering=1 << 20)
    os.dup2(2, 1)
    try:
        Server(plugin, reader, writer).serve()
    except BrokenPipeError:
        # Muster is gone; there is nobody to tell.
        sys.exit(1)
