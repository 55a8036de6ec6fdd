"""The frames of docs/protocol.md as types. Only type checkers and tests read this module; the kernel never imports it.

A class `_X` holds the required fields of `X`: `NotRequired` needs Python 3.11. test/kernel/frames-agree.test.ts compares these
types with docs/protocol.md and the types of src/cell/protocol.
"""

from typing import Any, Literal, TypedDict

MimeBundle = dict[str, Any]
Stream = Literal["stdout", "stderr"]

# ---- bridge to kernel


class _VisibleServer(TypedDict):
    name: str
    alias: str


class VisibleServer(_VisibleServer, total=False):
    description: str
    loaded: Literal[False]


class AbsentPackage(TypedDict):
    name: str
    reason: str


class _RunFrame(TypedDict):
    type: Literal["run"]
    cell: int
    code: str


class RunFrame(_RunFrame, total=False):
    servers: list[VisibleServer]
    named: Literal[True]
    lost: Literal["reset", "fresh", "ended", "exited", "idle"]
    missing: list[AbsentPackage]
    json: Literal[True]
    compat: Literal[True]
    language: Literal["bash", "javascript"]
    projects: str
    checkpoint: Literal[True]
    restore: str


class _ReplyError(TypedDict):
    code: str
    message: str


class ReplyError(_ReplyError, total=False):
    hint: str
    data: Any


class _ReplyFrame(TypedDict):
    type: Literal["reply"]
    id: int


class ReplyFrame(_ReplyFrame, total=False):
    value: Any
    error: ReplyError


# ---- kernel to bridge


class ReadyFrame(TypedDict):
    type: Literal["ready"]
    protocol: int
    python: str
    platform: str


class OutputFrame(TypedDict):
    type: Literal["output"]
    cell: int
    stream: Stream
    text: str


class DisplayFrame(TypedDict):
    type: Literal["display"]
    cell: int
    data: MimeBundle


class CallFrame(TypedDict):
    type: Literal["call"]
    id: int
    cell: int
    method: str
    params: Any


class CancelFrame(TypedDict):
    type: Literal["cancel"]
    id: int


class _ProgressFrame(TypedDict):
    type: Literal["progress"]
    cell: int
    done: float


class ProgressFrame(_ProgressFrame, total=False):
    total: float
    message: str


class _CellError(TypedDict):
    name: str
    message: str
    traceback: str


class CellError(_CellError, total=False):
    values: str
    hint: str
    search: str


class _Outcome(TypedDict):
    status: Literal["ok", "error", "interrupted"]


class Outcome(_Outcome, total=False):
    """How a cell ended."""

    value: MimeBundle
    error: CellError


class _DoneFrame(Outcome):
    type: Literal["done"]
    cell: int


class DoneFrame(_DoneFrame, total=False):
    notes: list[str]
    uninterrupted: bool


KernelFrame = ReadyFrame | OutputFrame | DisplayFrame | CallFrame | CancelFrame | ProgressFrame | DoneFrame
BridgeFrame = RunFrame | ReplyFrame
