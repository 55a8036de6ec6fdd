"""`get_ipython()`: of IPython's shell, what notebooks call that were converted to scripts. Its commands are read as the lines
of a cell are."""

from __future__ import annotations

import builtins
import sys
from typing import TYPE_CHECKING

from ..source.repairs import reading
from ..source.scan import Reading
from . import cell, notebook

if TYPE_CHECKING:
    from typing import Any


class Shell:
    ast_node_interactivity = "last_expr"
    config: dict[str, Any] = {}  # in which libraries look for the application of a notebook

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"Of IPython's shell, a cell has run_line_magic, run_cell_magic, run_cell, system, getoutput and user_ns: no {name}."
        )

    @property
    def user_ns(self) -> dict[str, Any]:
        return sys.modules["__main__"].__dict__

    def run_cell(self, raw_cell: str, *_: object, **__: object) -> Any:
        compiler = cell.Compiler()
        if not compiler.parses(raw_cell) and (found := reading(raw_cell, compiler.parses)):
            if not isinstance(found, Reading):
                raise ValueError(found)
            raw_cell = found.source
            setattr(builtins, notebook.NAME, notebook)
        body, last, _statements = compiler.compile(raw_cell, "get_ipython()")
        try:
            return cell.run_sync(body, last, self.user_ns)
        finally:
            notebook.stop()

    def run_line_magic(self, magic_name: str, line: str, *_: object) -> Any:
        return self.run_cell(f"%{magic_name} {line}")

    def run_cell_magic(self, magic_name: str, line: str, cell: str) -> Any:
        return self.run_cell(f"%%{magic_name} {line}\n{cell}")

    def magic(self, arg_s: str) -> Any:
        return self.run_cell(f"%{arg_s}")

    def system(self, cmd: str) -> Any:
        return self.run_cell(f"!{cmd}")

    def getoutput(self, cmd: str) -> Any:
        return self.run_cell(f"_ = !{cmd}\n_")


SHELL = Shell()
