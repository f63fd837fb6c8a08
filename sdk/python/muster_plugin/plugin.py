"""The class that a plugin extends, and what its methods are given."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Iterable, Optional, TypeVar

from .errors import ReadOnlyError, RequestError, ViewError
from .model import Item, Model, Schema
from .rpc import Peer
from .tasks import Task

_Function = TypeVar("_Function", bound=Callable[..., Any])


def view(function: _Function) -> _Function:
    """Marks a method that computes a view: `def url(self, ctx, item)`."""
    setattr(function, "_muster", "view")
    return function


def property_validator(function: _Function) -> _Function:
    """Marks a check of one value: `def check(self, value)`; answers with what is wrong, or None."""
    setattr(function, "_muster", "property_validator")
    return function


def item_validator(function: _Function) -> _Function:
    """Marks a check across properties: `def check(self, properties)`; answers as above."""
    setattr(function, "_muster", "item_validator")
    return function


class ValidationError:
    """Something that is wrong with an item."""

    def __init__(self, item_path: str, error_message: str, property_name: str = "") -> None:
        self.item_path = item_path
        self.error_message = error_message
        self.property_name = property_name

    def document(self) -> dict[str, Any]:
        document = {"path": self.item_path, "message": self.error_message}
        if self.property_name:
            document["property"] = self.property_name
        return document


class Plugin:
    """A plugin. What a subclass does not override is never called.

    A new object is made for each call, so nothing that one call leaves in it is there in the next.
    """

    is_muster_plugin = True
    # Only items of these types, with what is above and below them, are fetched; empty: all.
    model_types: list[str] = []
    version = ""

    def update_model(self, ctx: "PluginContext") -> None:
        """Writes properties before a plan is made."""

    def validate_model(self, ctx: "PluginContext") -> Iterable[ValidationError]:
        """Finds what does not go together."""
        return []

    def create_configuration(self, ctx: "PluginContext") -> Iterable[Any]:
        """Tasks and OrderedTaskLists that bring the hosts to what the model says."""
        return []

    def create_lock_tasks(self, ctx: "PluginContext", node: Item) -> Optional[tuple[Task, Task]]:
        """The tasks that take a node out of service and put it back, or nothing."""
        return None


METHODS = ("update_model", "validate_model", "create_configuration", "create_lock_tasks")


def marked(plugin: type[Plugin], *marks: str) -> list[str]:
    return sorted(name for name, member in inspect.getmembers(plugin, callable)
                  if getattr(member, "_muster", None) in marks)


def callbacks_of(plugin: type[Plugin]) -> list[str]:
    """Every public method that is the plugin's own may be called back."""
    return sorted(name for name, member in inspect.getmembers(plugin, inspect.isfunction)
                  if not name.startswith("_") and name not in METHODS
                  and not hasattr(member, "_muster"))


def overridden(plugin: type[Plugin]) -> list[str]:
    return [name for name in METHODS if getattr(plugin, name) is not getattr(Plugin, name)]


class PluginContext:
    """The model, during one call."""

    def __init__(self, peer: Peer, schema: Schema, plugin: Plugin, revision: int,
                 kept: Optional[Model], may_write: bool) -> None:
        self._peer = peer
        self._schema = schema
        self._plugin = plugin
        self._revision = revision
        self._model = kept if kept is not None and kept.revision == revision else None
        self._may_write = may_write
        if self._model is not None:
            self._model.access = self

    @property
    def model(self) -> Model:
        """Fetched when it is first needed."""
        if self._model is None:
            self._model = self._fetch()
        return self._model

    def _fetch(self) -> Model:
        wanted = list(self._plugin.model_types)
        model = Model(self._schema, self, wanted)

        def take(method: str, params: dict[str, Any]) -> None:
            if method == "items":
                model.add(params["items"])

        answer = self._peer.request("model", {"types": wanted} if wanted else {}, take)
        if len(model.rows) != answer["items"]:
            raise ValueError(f"{len(model.rows)} of {answer['items']} items came")
        model.finish(answer["revision"])
        return model

    @property
    def kept_model(self) -> Optional[Model]:
        """What may be used again; not what this call has written to."""
        return None if self._may_write else self._model

    def query(self, type_id: str, **criteria: Any) -> list[Item]:
        """All items of the type, but those that are inherited, that meet the criteria."""
        return self.model.query(type_id, criteria)

    def query_by_path(self, path: str) -> Optional[Item]:
        return self.model.find(path)

    query_by_vpath = query_by_path

    @property
    def root(self) -> Item:
        return self.model.root

    # What items ask for.

    def view(self, item: Item, name: str) -> Any:
        known = item._type.views.get(name)
        if known is None:
            raise AttributeError(f"{item.vpath} ({item.item_type_id}) has no view '{name}'")
        own = getattr(self._plugin, known["method"], None)
        if getattr(own, "_muster", None) == "view" and known["pack"] == self._schema_pack():
            return own(self, item)
        try:
            return self._peer.request("view", {"path": item.vpath, "name": name})["value"]
        except RequestError as error:
            raise ViewError(str(error)) from error

    def _schema_pack(self) -> str:
        return getattr(self._plugin, "_pack", "")

    def write(self, item: Item, name: str, value: Optional[str]) -> None:
        if not self._may_write:
            raise ReadOnlyError("the model is read-only here; it can be written in update_model "
                                "and in callbacks")
        change: dict[str, Any] = {"path": item.vpath}
        if value is None:
            change["unset"] = [name]
        else:
            change["set"] = {name: value}
        self._peer.request("write", change)

    def log(self, message: str, level: str = "info") -> None:
        self._peer.notify("log", {"level": level, "message": str(message)})


class CallbackApi(PluginContext):
    """What a callback is given."""

    def is_running(self) -> bool:
        """False once somebody has stopped the plan; a long callback asks now and then."""
        return bool(self._peer.request("is_running", {})["running"])

    def refresh(self) -> None:
        """Forgets the model, so that the next look sees what others have written since."""
        self._model = None
