"""Formats data frames of pandas and polars as compact text with their shape. Inspects only libraries that the cell has imported."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

_ROWS, _COLUMNS, _CELL_CHARS = 60, 30, 80
_JSON_ROWS = 1000
_WIDTH = 10_000  # so that polars wraps no table
_OUTLINE_COLUMNS = 12


def table(value: Any) -> dict[str, Any] | None:
    """Returns the MIME bundle of a data frame; None for any other value."""
    if _is_frame(value, "pandas"):
        options = {"max_rows": _ROWS, "min_rows": _ROWS // 3, "max_cols": _COLUMNS, "max_colwidth": _CELL_CHARS}
        text = value.to_string(**options, show_dimensions=False)
    elif _is_frame(value, "polars"):
        options = {
            "tbl_rows": _ROWS if len(value) <= _ROWS else _ROWS // 3,
            "tbl_cols": _COLUMNS,
            "fmt_str_lengths": _CELL_CHARS,
        }
        plain = {"tbl_formatting": "NOTHING", "tbl_hide_dataframe_shape": True, "tbl_width_chars": _WIDTH}
        with sys.modules["polars"].Config(**options, **plain):
            text = "\n".join(line.rstrip() for line in str(value).split("\n"))
    else:
        return None
    rows, columns = value.shape
    return {"text/plain": f"{text}\n[{rows} rows × {columns} columns]"}


def outline(value: Any) -> str | None:
    """Describes a data frame or an array in a few words; None for other values, and for derived classes, which could run their own code."""
    kind = type(value)  # compared with `is` only: a metaclass can define ==
    if kind is _class("pandas", "DataFrame") or kind is _class("polars", "DataFrame"):
        names = [str(name)[:40] for name in value.columns[:_OUTLINE_COLUMNS] if type(name) in (str, int)]
        more = ", …" if len(value.columns) > _OUTLINE_COLUMNS else ""
        return f"<DataFrame {value.shape[0]} × {value.shape[1]}: {', '.join(names)}{more}>"
    if kind is _class("numpy", "ndarray"):
        return f"<ndarray {value.shape} of {value.dtype}>"
    return None


def records(value: Any) -> str | None:
    """Returns a data frame as JSON records; None for other values, and for a long one."""
    if _is_frame(value, "pandas") and len(value) <= _JSON_ROWS:
        return str(value.to_json(orient="records", date_format="iso", default_handler=str))
    if _is_frame(value, "polars") and len(value) <= _JSON_ROWS:
        return str(value.write_json())
    return None


def _is_frame(value: Any, library: str) -> bool:
    frame = _class(library, "DataFrame")
    return isinstance(frame, type) and isinstance(value, frame)


def _class(library: str, name: str) -> Any:
    return getattr(sys.modules.get(library), name, None)
