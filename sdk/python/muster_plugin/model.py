"""The model as a plugin reads it: items with dots, queries by type and predicates."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, Iterator, Optional, Protocol

from .errors import ReadOnlyError

INITIAL, APPLIED, UPDATED, FOR_REMOVAL, REMOVED = range(5)
STATES = ("Initial", "Applied", "Updated", "ForRemoval", "Removed")

COLLECTION, REF_COLLECTION, INDETERMINABLE, WAS_APPLIED, SAME_APPLIED = 1, 2, 4, 8, 16

# Positions in a row (docs/plugins.md, "items").
PARENT, ID, TYPE, STATE, FLAGS, SOURCE, PROPERTIES, APPLIED_PROPERTIES = range(8)

_NOTHING: dict[str, Any] = {}
_STATE_OF = {"is_initial": INITIAL, "is_applied": APPLIED, "is_updated": UPDATED,
             "is_for_removal": FOR_REMOVAL, "is_removed": REMOVED}


class Type:
    """An item type, with everything that it takes over."""

    __slots__ = ("id", "base", "pack", "properties", "views", "elements", "names")

    def __init__(self, document: dict[str, Any]) -> None:
        self.id: str = document["id"]
        self.base: str = document.get("extends", "")
        self.pack: str = document.get("pack", "")
        self.properties: dict[str, dict[str, Any]] = document.get("properties", {})
        self.views: dict[str, dict[str, Any]] = document.get("views", {})
        self.elements: dict[str, dict[str, Any]] = document.get("elements", {})
        self.names: frozenset[str] = frozenset()  # of itself and of all that it extends


class Schema:
    """All item types, in the order in which rows name them."""

    def __init__(self, types: list[dict[str, Any]]) -> None:
        self.types = [Type(document) for document in types]
        self.by_id = {item_type.id: item_type for item_type in self.types}
        for item_type in self.types:
            names = set()
            at: Optional[Type] = item_type
            while at is not None and at.id not in names:
                names.add(at.id)
                at = self.by_id.get(at.base)
            item_type.names = frozenset(names)

    def numbers_of(self, type_id: str) -> list[int]:
        """The numbers of the type and of all that extend it."""
        return [number for number, item_type in enumerate(self.types)
                if type_id in item_type.names]


class Access(Protocol):
    """What items need of the world outside the model."""

    def view(self, item: "Item", name: str) -> Any: ...
    def write(self, item: "Item", name: str, value: Optional[str]) -> None: ...


class FuturePropertyValue:
    """The value of a property or view at the time when the task's phase starts."""

    __slots__ = ("item", "property_name")

    def __init__(self, item: "Item", property_name: str) -> None:
        item_type = item._type
        known = item_type.properties.get(property_name)
        if property_name not in item_type.views:
            if known is None:
                raise AttributeError(f"{item.vpath} ({item_type.id}) has no property or view "
                                     f"'{property_name}'")
            if not known.get("write") and not known.get("secret"):
                raise ValueError(f"'{property_name}' of {item.vpath} is known now; only a view, a "
                                 "property that plugins write, or a secret can be a future value")
        self.item = item
        self.property_name = property_name

    def document(self) -> dict[str, Any]:
        return {"$future": {"item": self.item.vpath, "property": self.property_name}}

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, FuturePropertyValue) and self.item == other.item
                and self.property_name == other.property_name)

    def __hash__(self) -> int:
        return hash((self.item, self.property_name))

    def __repr__(self) -> str:
        return f"FuturePropertyValue({self.item.vpath}, {self.property_name})"


class Properties(dict[str, Any]):
    """Values by name. A secret that the plugin may not see is a FuturePropertyValue."""


class Item:
    """An item, a collection or a reference of the model; read-only but for what plugins write.

    `item.name` is a child, a property or a view called so, in this order. Names that this class
    uses itself are found with `item.children`, `item.properties` and `get_view()`.
    """

    __slots__ = ("_model", "_number", "_row")

    _model: "Model"
    _number: int
    _row: list[Any]

    def __init__(self, model: "Model", number: int) -> None:
        # By the slots themselves: assignment writes properties.
        _set_model(self, model)
        _set_number(self, number)
        _set_row(self, model.rows[number])

    # What it is.

    @property
    def _type(self) -> Type:
        return self._model.schema.types[self._row[TYPE]]

    @property
    def item_id(self) -> str:
        return self._row[ID]

    @property
    def item_type_id(self) -> str:
        return self._type.id

    @property
    def vpath(self) -> str:
        return self._model.path(self._number)

    def get_vpath(self) -> str:
        return self.vpath

    @property
    def parent(self) -> Optional["Item"]:
        number = self._row[PARENT]
        return None if number < 0 else self._model.item(number)

    def get_parent(self) -> Optional["Item"]:
        return self.parent

    @property
    def children(self) -> dict[str, "Item"]:
        item = self._model.item
        return {name: item(number)
                for name, number in self._model.children(self._number).items()}

    def is_collection(self) -> bool:
        return bool(self._row[FLAGS] & (COLLECTION | REF_COLLECTION))

    def is_instance(self, type_id: str) -> bool:
        """Of the type, or of one that extends it."""
        return not self.is_collection() and type_id in self._type.names

    def is_node(self) -> bool:
        return self.is_instance("node")

    def is_ms(self) -> bool:
        return self.is_instance("ms")

    def is_cluster(self) -> bool:
        return self.is_instance("cluster-base")

    # Its state.

    def get_state(self) -> str:
        return STATES[self._row[STATE]]

    def is_initial(self) -> bool:
        return self._row[STATE] == INITIAL

    def is_applied(self) -> bool:
        return self._row[STATE] == APPLIED

    def is_updated(self) -> bool:
        return self._row[STATE] == UPDATED

    def is_for_removal(self) -> bool:
        return self._row[STATE] == FOR_REMOVAL

    def is_removed(self) -> bool:
        return self._row[STATE] == REMOVED

    def _has_below(self, state: int) -> bool:
        rows = self._model.rows
        return any(rows[number][STATE] == state
                   for number in range(self._number + 1, self._model.end(self._number)))

    def has_initial_dependencies(self) -> bool:
        """Whether anything below it is Initial."""
        return self._has_below(INITIAL)

    def has_updated_dependencies(self) -> bool:
        return self._has_below(UPDATED)

    def has_removed_dependencies(self) -> bool:
        return self._has_below(FOR_REMOVAL)

    # Its properties.

    @property
    def properties(self) -> Properties:
        return self._read(self._row[PROPERTIES] if len(self._row) > PROPERTIES else _NOTHING)

    @property
    def applied_properties(self) -> Properties:
        """As they were when it became Applied; empty if it never was."""
        row = self._row
        if row[FLAGS] & SAME_APPLIED:
            return self.properties
        return self._read(row[APPLIED_PROPERTIES] if len(row) > APPLIED_PROPERTIES else _NOTHING)

    @property
    def applied_properties_determinable(self) -> bool:
        return not self._row[FLAGS] & INDETERMINABLE

    def _read(self, values: dict[str, Any]) -> Properties:
        return Properties((name, FuturePropertyValue(self, name) if value is None else value)
                          for name, value in values.items())

    def get_property(self, name: str) -> Any:
        row = self._row
        if len(row) > PROPERTIES and name in row[PROPERTIES]:
            value = row[PROPERTIES][name]
            return FuturePropertyValue(self, name) if value is None else value
        if name in self._type.properties and not self.is_collection():
            return None
        raise AttributeError(f"{self.vpath} ({self.item_type_id}) has no property '{name}'")

    def get_view(self, name: str) -> Any:
        return self._model.access.view(self, name)

    def clear_property(self, name: str) -> None:
        """Back to its default, or to nothing."""
        self._check_writable(name)
        self._model.access.write(self, name, None)
        if len(self._row) > PROPERTIES:
            self._row[PROPERTIES].pop(name, None)

    def _check_writable(self, name: str) -> None:
        known = self._type.properties.get(name)
        if known is None or self.is_collection():
            raise AttributeError(f"{self.vpath} ({self.item_type_id}) has no property '{name}'")
        if not known.get("write"):
            raise ReadOnlyError(f"plugins may not write '{name}' of {self.vpath} "
                                f"({self.item_type_id})")

    def __getattr__(self, name: str) -> Any:
        row = self._row
        if len(row) > PROPERTIES:
            # First, because it is what is asked for most; no child is called as a property is.
            value = row[PROPERTIES].get(name)
            if value is not None:
                return value
        if name.startswith("__"):
            raise AttributeError(name)
        number = self._model.children(self._number).get(name)
        if number is not None:
            return self._model.item(number)
        if self.is_collection():
            raise AttributeError(f"{self.vpath} has no item '{name}'")
        item_type = self._type
        if name in item_type.views:
            return self._model.access.view(self, name)
        if len(row) > PROPERTIES and name in row[PROPERTIES]:
            return FuturePropertyValue(self, name)
        if name in item_type.properties or name in item_type.elements:
            return None
        raise AttributeError(f"{self.vpath} ({item_type.id}) has no child, property or view "
                             f"'{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if value is None:
            self.clear_property(name)
            return
        self._check_writable(name)
        if not isinstance(value, str):
            raise TypeError(f"the value of '{name}' must be a text, not {value!r}")
        self._model.access.write(self, name, value)
        if len(self._row) <= PROPERTIES:
            self._row.append({})
        self._row[PROPERTIES][name] = value

    # Where it stands.

    def get_ancestor(self, type_id: str) -> Optional["Item"]:
        """The nearest of the type, itself included."""
        at: Optional[Item] = self
        while at is not None and not at.is_instance(type_id):
            at = at.parent
        return at

    def get_node(self) -> Optional["Item"]:
        return self.get_ancestor("node")

    def get_ms(self) -> Optional["Item"]:
        return self.get_ancestor("ms")

    def get_cluster(self) -> Optional["Item"]:
        return self.get_ancestor("cluster-base")

    def get_source(self) -> Optional["Item"]:
        """What it inherits from."""
        number = self._row[SOURCE]
        return None if number < 0 else self._model.item(number)

    # What is below it.

    def query(self, type_id: str, **criteria: Any) -> list["Item"]:
        """Items of the type below it, also inherited ones, that meet all criteria."""
        return self._model.query(type_id, criteria, self._number)

    def __iter__(self) -> Iterator["Item"]:
        return iter(self.children.values())

    def __len__(self) -> int:
        return len(self._model.children(self._number))

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Item) and self._model is other._model
                and self._number == other._number)

    def __hash__(self) -> int:
        return hash((id(self._model), self._number))

    def __repr__(self) -> str:
        return f"<{self.item_type_id} {self.vpath}>"


_set_model = Item.__dict__["_model"].__set__
_set_number = Item.__dict__["_number"].__set__
_set_row = Item.__dict__["_row"].__set__


class Model:
    """All items of one revision. Rows come in the order of the tree."""

    def __init__(self, schema: Schema, access: Access,
                 only_types: Optional[list[str]] = None) -> None:
        self.schema = schema
        self.access = access
        self.only_types = only_types
        self.revision = -1
        self.rows: list[list[Any]] = []
        self._items: list[Optional[Item]] = []
        self._paths: dict[int, str] = {}
        self._ends: Optional[list[int]] = None
        self._by_type: Optional[list[list[int]]] = None
        self._children: Optional[list[Any]] = None
        self._hosts: dict[int, bool] = {}

    def is_host(self, number: int) -> bool:
        """Whether it is a node or the management server."""
        found = self._hosts.get(number)
        if found is None:
            item = self.item(number)
            found = self._hosts[number] = item.is_node() or item.is_ms()
        return found

    def add(self, rows: list[list[Any]]) -> None:
        self.rows.extend(rows)

    def finish(self, revision: int) -> None:
        self.revision = revision
        self._items = [None] * len(self.rows)

    def item(self, number: int) -> Item:
        found = self._items[number]
        if found is None:
            found = self._items[number] = Item(self, number)
        return found

    @property
    def root(self) -> Item:
        return self.item(0)

    def path(self, number: int) -> str:
        if number == 0:
            return "/"
        found = self._paths.get(number)
        if found is None:
            row = self.rows[number]
            above = row[PARENT]
            found = ("" if above == 0 else self.path(above)) + "/" + row[ID]
            self._paths[number] = found
        return found

    def end(self, number: int) -> int:
        """One after the last row below it."""
        if self._ends is None:
            ends = [index + 1 for index in range(len(self.rows))]
            for index in range(len(self.rows) - 1, 0, -1):
                above = self.rows[index][PARENT]
                if ends[above] < ends[index]:
                    ends[above] = ends[index]
            self._ends = ends
        return self._ends[number]

    def children(self, number: int) -> dict[str, int]:
        if self._children is None:
            lists: list[Any] = [None] * len(self.rows)
            for index, row in enumerate(self.rows):
                above = row[PARENT]
                if above < 0:
                    continue
                if lists[above] is None:
                    lists[above] = {}
                lists[above][row[ID]] = index
            self._children = lists
        return self._children[number] or {}

    def find(self, path: str) -> Optional[Item]:
        number = 0
        for name in path.split("/"):
            if name:
                below = self.children(number).get(name)
                if below is None:
                    return None
                number = below
        return self.item(number)

    def _check_asked(self, type_id: str) -> None:
        known = self.schema.by_id.get(type_id)
        if known is None:
            raise ValueError(f"there is no item type '{type_id}'")
        if self.only_types and not any(name in known.names for name in self.only_types):
            raise ValueError(f"items of type '{type_id}' were not asked for; model_types are "
                             f"{', '.join(self.only_types)}")

    def query(self, type_id: str, criteria: dict[str, Any],
              below: Optional[int] = None) -> list[Item]:
        if below is None:
            self._check_asked(type_id)
        elif type_id not in self.schema.by_id:
            raise ValueError(f"there is no item type '{type_id}'")
        if self._by_type is None:
            lists: list[list[int]] = [[] for _ in self.schema.types]
            for index, row in enumerate(self.rows):
                if not row[FLAGS] & (COLLECTION | REF_COLLECTION):
                    lists[row[TYPE]].append(index)
            self._by_type = lists
        first, last = (0, len(self.rows)) if below is None else (below + 1, self.end(below))
        found: list[int] = []
        lists_used = 0
        for type_number in self.schema.numbers_of(type_id):
            numbers = self._by_type[type_number]
            if below is not None:
                numbers = numbers[bisect_left(numbers, first):bisect_left(numbers, last)]
            if numbers:
                found.extend(numbers)
                lists_used += 1
        if lists_used > 1:
            found.sort()
        rows = self.rows
        if below is None:
            found = [number for number in found if rows[number][SOURCE] == -1]
        # Most queries are about states, which the rows tell by themselves.
        left = {}
        for name, wanted in criteria.items():
            state = _STATE_OF.get(name)
            if state is None:
                left[name] = wanted
            else:
                found = [number for number in found if (rows[number][STATE] == state) == wanted]
        items = [self.item(number) for number in found]
        return [item for item in items if _meets(item, left)] if left else items


def _meets(item: Item, criteria: dict[str, Any]) -> bool:
    """Names are properties, item_id, item_type_id, vpath, or predicates such as is_initial."""
    for name, wanted in criteria.items():
        if name in ("item_id", "item_type_id", "vpath"):
            value = getattr(item, name)
        elif name.startswith(("is_", "has_")) and callable(getattr(Item, name, None)):
            value = getattr(item, name)()
        elif len(item._row) > PROPERTIES and name in item._row[PROPERTIES]:
            value = item._row[PROPERTIES][name]
        else:
            return False
        if value != wanted:
            return False
    return True
