"""The frames as types, written by `npm run schema` from packages/core/src/cell/protocol/frames.ts. The kernel never imports it: only
type checkers read it."""

from typing import Any, Literal, TypedDict

from typing_extensions import NotRequired

Stream = Literal["stdout", "stderr"]


class CellError(TypedDict):
    name: str
    message: str
    traceback: str
    values: NotRequired[str]
    hint: NotRequired[str]
    search: NotRequired[str]


class VisibleServer(TypedDict):
    name: str
    alias: str
    description: NotRequired[str]
    loaded: NotRequired[Literal[False]]


class AbsentPackage(TypedDict):
    name: str
    reason: str


class ReplyError(TypedDict):
    code: str
    message: str
    hint: NotRequired[str]
    data: NotRequired[Any]


class Outcome(TypedDict):
    status: Literal["ok", "error", "interrupted"]
    value: NotRequired[dict[str, Any]]
    error: NotRequired[CellError]


class ReadyFrame(TypedDict):
    type: Literal["ready"]
    protocol: int
    python: str
    platform: str


class OutputFrame(TypedDict):
    type: Literal["output"]
    cell: int
    stream: Literal["stdout", "stderr"]
    text: str


class DisplayFrame(TypedDict):
    type: Literal["display"]
    cell: int
    data: dict[str, Any]
    id: NotRequired[str]


class ClearFrame(TypedDict):
    type: Literal["clear"]
    cell: int
    wait: bool


class CallFrame(TypedDict):
    type: Literal["call"]
    id: int
    cell: int
    method: str
    params: Any


class CancelFrame(TypedDict):
    type: Literal["cancel"]
    id: int


class ProgressFrame(TypedDict):
    type: Literal["progress"]
    cell: int
    done: float
    total: NotRequired[float]
    message: NotRequired[str]


class DoneFrame(TypedDict):
    type: Literal["done"]
    cell: int
    status: Literal["ok", "error", "interrupted"]
    value: NotRequired[dict[str, Any]]
    error: NotRequired[CellError]
    notes: NotRequired[list[str]]
    uninterrupted: NotRequired[bool]


class RunFrame(TypedDict):
    type: Literal["run"]
    cell: int
    code: str
    servers: NotRequired[list[VisibleServer]]
    named: NotRequired[Literal[True]]
    lost: NotRequired[Literal["ended", "exited", "fresh", "idle", "reset"]]
    missing: NotRequired[list[AbsentPackage]]
    json: NotRequired[Literal[True]]
    compat: NotRequired[Literal[True]]
    language: NotRequired[Literal["bash", "javascript"]]
    projects: NotRequired[str]
    checkpoint: NotRequired[Literal[True]]
    restore: NotRequired[str]


class ReplyFrame(TypedDict):
    type: Literal["reply"]
    id: int
    value: NotRequired[Any]
    error: NotRequired[ReplyError]


KernelFrame = ReadyFrame | OutputFrame | DisplayFrame | ClearFrame | CallFrame | CancelFrame | ProgressFrame | DoneFrame
BridgeFrame = RunFrame | ReplyFrame
