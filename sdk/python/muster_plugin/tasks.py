"""Tasks: what a plugin asks to be done, and in which order."""

from __future__ import annotations

import itertools
import math
from typing import Any, Callable, Iterable, Optional, Union

from .model import FuturePropertyValue, Item

_made = itertools.count()
_calls = itertools.count(1)
_call = 0  # calls come one after the other, so one number is enough
_PLAIN = (str, int, float, bool, type(None))


def begin_call() -> None:
    """What is made from now on belongs to another answer than what was made before."""
    global _call
    _call = next(_calls)


def encode(value: Any, where: Callable[[], str]) -> Any:
    """A value as JSON has it. TypeError: something that cannot be sent; `where` says whose."""
    if isinstance(value, float) and not math.isfinite(value):
        raise TypeError(f"{where()}: {value!r} is a number that JSON does not have")
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, FuturePropertyValue):
        return value.document()
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{where()}: the key {key!r} is no text")
        return {key: inner if type(inner) is str else encode(inner, where)
                for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(inner, where) for inner in value]
    if isinstance(value, (set, frozenset)):
        # In an order that does not depend on the process.
        return sorted((encode(inner, where) for inner in value), key=repr)
    raise TypeError(f"{where()}: {value!r} is of type {type(value).__name__}; texts, numbers, "
                    "truth values, None, lists, tuples, sets and dicts of these, and "
                    "FuturePropertyValue can be sent")


class Task:
    """What is common to all kinds. `requires` takes tasks, items and (call_type, call_id) pairs."""

    kind = ""

    def __init__(self, model_item: Item, description: str, tag_name: Optional[str] = None) -> None:
        if not isinstance(model_item, Item):
            raise TypeError(f"the item of a task must be an item of the model, not {model_item!r}")
        if not isinstance(description, str) or not description:
            raise TypeError("the description of a task must be a text that is not empty")
        self.made = next(_made)  # sets of tasks have an order only by this
        self.call = _call
        self.item = model_item
        self.description = description
        self.tag_name = tag_name
        # Made when they are first looked at: most tasks have none, and there may be very many.
        self._requires: Optional[set[Union["Task", Item, tuple[str, str]]]] = None
        self._model_items: Optional[set[Item]] = None

    @property
    def requires(self) -> set[Union["Task", Item, tuple[str, str]]]:
        if self._requires is None:
            self._requires = set()
        return self._requires

    @requires.setter
    def requires(self, entries: Iterable[Union["Task", Item, tuple[str, str]]]) -> None:
        self._requires = set(entries)

    @property
    def model_items(self) -> set[Item]:
        if self._model_items is None:
            self._model_items = set()
        return self._model_items

    @model_items.setter
    def model_items(self, items: Iterable[Item]) -> None:
        self._model_items = set(items)

    @property
    def model_item(self) -> Item:
        return self.item

    def document(self, numbers: dict[int, int]) -> dict[str, Any]:
        """As it is sent; `numbers` are those of all tasks of the answer, by id()."""
        document: dict[str, Any] = {"kind": self.kind, "item": self.item.vpath,
                                    "description": self.description}
        if self.tag_name:
            document["tag"] = self.tag_name
        if self._model_items:
            document["model_items"] = sorted(self._path_of(item) for item in self._model_items)
        if self._requires:
            document["requires"] = sorted((self._requirement(entry, numbers)
                                           for entry in self._requires), key=repr)
        return document

    def _path_of(self, item: Any) -> str:
        if not isinstance(item, Item):
            raise TypeError(f"model_items of {self.name()} has {item!r}, which is no item")
        return item.vpath

    def _requirement(self, entry: Any, numbers: dict[int, int]) -> dict[str, Any]:
        if isinstance(entry, Task):
            return {"task": numbers[id(entry)]}
        if isinstance(entry, Item):
            return {"item": entry.vpath}
        return {"call": list(_pair(entry, f"requires of {self.name()}"))}

    def name(self) -> str:
        """For errors."""
        return f"'{self.description}' (for {self.item.vpath})"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.item.vpath}: {self.description}>"


def _pair(entry: Any, where: str) -> tuple[str, str]:
    if isinstance(entry, tuple) and len(entry) == 2 and all(isinstance(x, str) for x in entry):
        return entry
    raise TypeError(f"{where}: {entry!r} is no task, no item and no pair of call_type and call_id")


class ConfigTask(Task):
    """A resource of a node, brought to a state; may be applied again at will."""

    kind = "config"

    def __init__(self, node: Item, model_item: Item, description: str, call_type: str,
                 call_id: str, /, tag_name: Optional[str] = None, **attributes: Any) -> None:
        super().__init__(model_item, description, tag_name)
        if not isinstance(node, Item) or not node._model.is_host(node._number):
            raise TypeError(f"the node of '{description}' must be a node or the management "
                            f"server, not {node!r}")
        for name, text in (("call_type", call_type), ("call_id", call_id)):
            if not isinstance(text, str) or not text:
                raise TypeError(f"{name} of '{description}' must be a text, not {text!r}")
        self.node = node
        self.call_type = call_type
        self.call_id = call_id
        self.kwargs = attributes
        self._replaces: Optional[set[tuple[str, str]]] = None
        self.persist = True

    @property
    def replaces(self) -> set[tuple[str, str]]:
        if self._replaces is None:
            self._replaces = set()
        return self._replaces

    @replaces.setter
    def replaces(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._replaces = set(pairs)

    def document(self, numbers: dict[int, int]) -> dict[str, Any]:
        document = super().document(numbers)
        document["node"] = self.node.vpath
        document["call"] = [self.call_type, self.call_id]
        if self.kwargs:
            document["attributes"] = encode(self.kwargs, lambda: f"attributes of {self.name()}")
        if self._replaces:
            document["replaces"] = sorted(list(_pair(entry, f"replaces of {self.name()}"))
                                          for entry in self._replaces)
        if not self.persist:
            document["persist"] = False
        return document


class CallbackTask(Task):
    """A method of the plugin, called with the callback API and the arguments given here."""

    kind = "callback"

    def __init__(self, model_item: Item, description: str, callback: Callable[..., Any],
                 /, *args: Any, tag_name: Optional[str] = None, **kwargs: Any) -> None:
        super().__init__(model_item, description, tag_name)
        owner = getattr(callback, "__self__", None)
        # Not an isinstance() of Plugin, which is defined on top of tasks.
        if not getattr(owner, "is_muster_plugin", False):
            raise TypeError(f"the callback of '{description}' must be a method of the plugin, as "
                            f"in self.method, not {callback!r}")
        self.callback = callback
        self.args = args
        self.kwargs = kwargs

    def document(self, numbers: dict[int, int]) -> dict[str, Any]:
        document = super().document(numbers)
        document["method"] = self.callback.__name__
        # Left out where there are none, as the arguments are part of what a task is called.
        if self.args or self.kwargs:
            def where() -> str:
                return f"arguments of {self.name()}"
            document["arguments"] = {"args": encode(self.args, where),
                                     "kwargs": encode(self.kwargs, where)}
        return document


class RemoteExecutionTask(Task):
    """An action of agents on some nodes at once; `action` is a kind of action (docs/kinds.md)."""

    kind = "remote"

    def __init__(self, nodes: Iterable[Item], model_item: Item, description: str, action: str, /,
                 tag_name: Optional[str] = None, **inputs: Any) -> None:
        super().__init__(model_item, description, tag_name)
        self.nodes = list(nodes)
        for node in self.nodes:
            if not isinstance(node, Item) or not (node.is_node() or node.is_ms()):
                raise TypeError(f"nodes of '{description}' has {node!r}, which is no node")
        if not self.nodes:
            raise TypeError(f"'{description}' has no nodes")
        self.action = action
        self.kwargs = inputs

    def document(self, numbers: dict[int, int]) -> dict[str, Any]:
        document = super().document(numbers)
        document["nodes"] = sorted(node.vpath for node in self.nodes)
        document["action"] = self.action
        document["inputs"] = encode(self.kwargs, lambda: f"inputs of {self.name()}")
        return document


class OrderedTaskList:
    """Tasks that are done one after the other."""

    def __init__(self, model_item: Item, task_list: Iterable[Task]) -> None:
        self.model_item = model_item
        self.task_list = list(task_list)
        if not self.task_list:
            raise TypeError("an OrderedTaskList has at least one task")
        for task in self.task_list:
            if not isinstance(task, Task):
                raise TypeError(f"an OrderedTaskList has tasks, not {task!r}")

    def chain(self) -> list[Task]:
        for before, after in zip(self.task_list, self.task_list[1:]):
            after.requires.add(before)
        return self.task_list


def _entries(answer: Any, method: str, wanted: str) -> Iterable[Any]:
    if isinstance(answer, (str, bytes, dict)) or not isinstance(answer, Iterable):
        raise TypeError(f"{method} answers with {wanted}, or with nothing, not {answer!r}")
    return answer


def lock_pair(answer: Any) -> Optional[tuple[Task, Task]]:
    """The tasks of an answer of create_lock_tasks, if it has any."""
    if answer is None or (isinstance(answer, (tuple, list)) and not answer):
        return None
    if not (isinstance(answer, (tuple, list)) and len(answer) == 2
            and all(isinstance(task, Task) for task in answer)):
        raise TypeError("create_lock_tasks answers with a pair of a lock task and an unlock task, "
                        f"or with nothing, not {answer!r}")
    for title, task in zip(("lock", "unlock"), answer):
        if task._requires:
            raise TypeError(f"the {title} task {task.name()} has 'requires'; a lock stands alone "
                            "in its phase and can require nothing")
        _check_call(task)
    return answer[0], answer[1]


def _check_call(task: Task, requirer: Optional[Task] = None) -> None:
    if task.call == _call:
        return
    who = f"{requirer.name()} requires {task.name()}, which" if requirer else task.name()
    raise TypeError(f"{who} was made in an earlier call, from a model that may have "
                    "changed since; a task must be made in the call that answers with it")


def flatten(answer: Any) -> list[Task]:
    """All tasks of an answer, each once: lists in a row, and whatever a task of it requires."""
    if answer is None:
        return []
    tasks: list[Task] = []
    seen: set[int] = set()

    def add(task: Task, requirer: Optional[Task] = None) -> None:
        if id(task) in seen:
            return
        _check_call(task, requirer)
        seen.add(id(task))
        tasks.append(task)

    for entry in _entries(answer, "create_configuration", "a list of tasks"):
        if isinstance(entry, OrderedTaskList):
            for task in entry.chain():
                add(task)
        elif isinstance(entry, Task):
            add(entry)
        else:
            raise TypeError(f"create_configuration answers with tasks, not {entry!r}")
    for task in tasks:  # grows while it is read
        if task._requires:
            required = [entry for entry in task._requires if isinstance(entry, Task)]
            for entry in sorted(required, key=lambda other: other.made):
                add(entry, task)
    return tasks
