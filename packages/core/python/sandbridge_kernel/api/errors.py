"""The exceptions that a call can raise in a cell. `except MCPError` catches them all."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..wire.frame_types import ReplyError

__all__ = [
    "ArgumentsError",
    "MCPError",
    "NotAwaited",
    "OutcomeUnknown",
    "PermissionDenied",
    "SavedToolError",
    "ServerNotFound",
    "ToolError",
    "ToolNotFound",
]


class MCPError(RuntimeError):
    """A call that failed: `.code` (see docs/errors.md), `.hint`, and where known `.server`, `.tool` and `.content`."""

    code = "ERROR"
    hint = ""
    server = None
    tool = None
    content = None
    data = None

    def __init__(self, message: str = "", *, code: str | None = None, hint: str = "", data: object = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint or ""
        if code:
            self.code = code
        if isinstance(data, dict):
            # The data of the server's own error stands for itself.
            self.data = data.get("data", data)
            for key in ("server", "tool", "content"):
                setattr(self, key, data.get(key))

    def __str__(self) -> str:
        if not self.hint:
            return self.message
        return f"{self.message.rstrip('. ')}. {self.hint}" if self.message else self.hint


class ToolError(MCPError):
    """The tool itself says that it failed. `.content` is what it said."""

    code = "TOOL_FAILED"


class ArgumentsError(MCPError, TypeError):
    """The arguments do not fit the tool's signature, or cannot be sent."""

    code = "PROXY_ARGUMENTS_INVALID"


class NotAwaited(MCPError, TypeError):
    """The cell uses a call without `await`. Found before it ran."""

    code = "CALL_NOT_AWAITED"


class ToolNotFound(MCPError, AttributeError):
    """The server has no such tool."""

    code = "PROXY_TOOL_UNKNOWN"


class ServerNotFound(MCPError):
    """This cell cannot reach a server of that name."""

    code = "PROXY_SERVER_UNAVAILABLE"


class PermissionDenied(MCPError):
    """A rule, or the user, does not allow the call. The message names the rule, the hint what would be allowed."""

    code = "PERMISSION_DENIED"


class ServerTimeoutError(MCPError, TimeoutError):
    """A server did not answer in time."""

    code = "UPSTREAM_TIMEOUT"


class OutcomeUnknown(MCPError):
    """The call was made before the connection broke, and its answer is lost. `again` makes it once more."""

    code = "OUTCOME_UNKNOWN"


class SavedToolError(MCPError):
    """A saved tool is not there, or cannot be loaded here."""

    code = "STATE_NOT_FOUND"


# Python's exceptions cannot all be base classes of one class. Each of these is raised where Python expects its base.
class ServerNotFoundKey(ServerNotFound, KeyError):
    pass


class ServerNotFoundAttribute(ServerNotFound, AttributeError):
    pass


class ServerNotFoundModule(ServerNotFound, ModuleNotFoundError):
    pass


class SavedToolErrorImport(SavedToolError, ImportError):
    pass


class SavedToolErrorAttribute(SavedToolError, AttributeError):
    pass


class ToolNotFoundImport(MCPError, ImportError):
    code = ToolNotFound.code


_CLASSES = {
    kind.code: kind
    for kind in (
        ToolError,
        ArgumentsError,
        OutcomeUnknown,
        ToolNotFound,
        ServerNotFound,
        PermissionDenied,
        ServerTimeoutError,
    )
}

for _kind in (
    MCPError,
    NotAwaited,
    SavedToolError,
    SavedToolErrorImport,
    SavedToolErrorAttribute,
    *_CLASSES.values(),
    ServerNotFoundKey,
    ServerNotFoundAttribute,
    ServerNotFoundModule,
):
    _kind.__module__ = "mcp.runtime"  # where cells import it from, and what tracebacks show
    for _family in (ServerNotFound, SavedToolError):
        if issubclass(_kind, _family):
            _kind.__name__ = _kind.__qualname__ = _family.__name__
ToolNotFoundImport.__module__ = "mcp.runtime"
ToolNotFoundImport.__name__ = ToolNotFoundImport.__qualname__ = "ToolNotFound"


def from_reply(error: "ReplyError") -> MCPError:
    """The exception for the `error` of a reply."""
    kind = _CLASSES.get(error["code"], MCPError)
    return kind(error["message"], code=error["code"], hint=error.get("hint", ""), data=error.get("data"))
