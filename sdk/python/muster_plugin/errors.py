"""What can go wrong between a plugin and Muster."""

from __future__ import annotations


class PluginError(Exception):
    """A reason for people; the call is answered with it."""


class CallbackExecutionException(PluginError):
    """A callback could not do what it should."""


class ViewError(PluginError):
    """A view has no value."""


class PlanStoppedException(PluginError):
    """The callback gave up because the plan is being stopped."""


class ReadOnlyError(PluginError):
    """The model, or this property of it, cannot be written here."""


class RequestError(PluginError):
    """Muster refused what the plugin asked for."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
