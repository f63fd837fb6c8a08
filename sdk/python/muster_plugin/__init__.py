"""Plugins for Muster: a class with a few methods (docs/tutorial-plugin.md)."""

from .errors import (CallbackExecutionException, PlanStoppedException, PluginError, ReadOnlyError,
                     RequestError, ViewError)
from .model import FuturePropertyValue, Item
from .plugin import (CallbackApi, Plugin, PluginContext, ValidationError, item_validator,
                     property_validator, view)
from .server import run
from .tasks import CallbackTask, ConfigTask, OrderedTaskList, RemoteExecutionTask, Task

__all__ = [
    "CallbackApi", "CallbackExecutionException", "CallbackTask", "ConfigTask",
    "FuturePropertyValue", "Item", "OrderedTaskList", "PlanStoppedException", "Plugin",
    "PluginContext", "PluginError", "ReadOnlyError", "RemoteExecutionTask", "RequestError", "Task",
    "ValidationError", "ViewError", "item_validator", "property_validator", "run", "view",
]
