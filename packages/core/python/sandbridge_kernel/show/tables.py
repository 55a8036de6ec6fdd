"""Formats data frames of pandas and polars as compact text with their shape. Inspects only libraries that the cell has imported."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from .figures import is_a

if TYPE_CHECKING:
    from typing import Any

_ROWS, _COLUMNS, _CELL_CHARS = 60, 30, 80
# At most, whatever the options of a library say: the bridge shows less, and keeps the rest.
_MOST_ROWS, _MOST_COLUMNS = 1000, 200
_JSON_ROWS = 1000
_WIDTH = 10_000  # so that polars wraps no table
_OUTLINE_COLUMNS = 12


def table(value: Any) -> dict[str, Any] | None:
    """Returns the MIME bundle of a data frame; None for any other value."""
    if is_a(value, "pandas", "DataFrame"):
        options = _pandas_options(sys.modules["pandas"])
        text = value.to_string(**options, show_dimensions=False)
        hides_shape = _given(sys.modules["pandas"], "display.show_dimensions") == (False,)
        cut = _cut(value.shape, options["max_rows"], options["max_cols"])
    elif is_a(value, "polars", "DataFrame"):
        options = _polars_options(len(value))
        plain = {"tbl_formatting": "NOTHING", "tbl_hide_dataframe_shape": True, "tbl_width_chars": _WIDTH}
        hides_shape = os.environ.get("POLARS_FMT_TABLE_HIDE_DATAFRAME_SHAPE_INFORMATION") == "1"
        with sys.modules["polars"].Config(**options, **plain):
            text = "\n".join(line.rstrip() for line in str(value).split("\n"))
        cut = _cut(value.shape, options["tbl_rows"], options["tbl_cols"])
    elif type(value).__module__ == "pandas.io.formats.style" and hasattr(value, "to_string"):
        # A Styler. As HTML it is mostly its style.
        return {"text/plain": value.to_string(delimiter="\t", max_rows=_ROWS, max_columns=_COLUMNS).rstrip("\n")}
    else:
        return None
    if hides_shape and not cut:
        return {"text/plain": text}
    rows, columns = value.shape
    return {"text/plain": f"{text}\n[{rows} rows × {columns} columns{cut}]"}


def _polars_options(rows: int) -> dict[str, int]:
    """What a cell has set with polars.Config, which keeps it in the environment, and ours where it has set nothing. Below 0 is all."""

    def given(name: str, ours: int, most: int) -> int:
        try:
            value = int(os.environ[f"POLARS_FMT_{name}"])
        except (KeyError, ValueError):
            return ours
        return min(value, most) if value >= 0 else most

    return {
        "tbl_rows": given("MAX_ROWS", _ROWS if rows <= _ROWS else _ROWS // 3, _MOST_ROWS),
        "tbl_cols": given("MAX_COLS", _COLUMNS, _MOST_COLUMNS),
        "fmt_str_lengths": given("STR_LEN", _CELL_CHARS, _WIDTH),
    }


def _pandas_options(pandas: Any) -> dict[str, Any]:
    """What a cell has set with pandas.set_option, and ours where it has set nothing."""
    rows, columns, chars = (_given(pandas, f"display.{name}") for name in ("max_rows", "max_columns", "max_colwidth"))
    if rows:
        most = min(rows[0] or _MOST_ROWS, _MOST_ROWS)
        least = pandas.get_option("display.min_rows") if rows[0] and rows[0] <= _MOST_ROWS else most
    else:
        most, least = _ROWS, (_given(pandas, "display.min_rows") or (_ROWS // 3,))[0]
    return {
        "max_rows": most,
        "min_rows": least,
        "max_cols": min((columns or (_COLUMNS,))[0] or _MOST_COLUMNS, _MOST_COLUMNS),
        "max_colwidth": chars[0] if chars else _CELL_CHARS,
    }


def _given(pandas: Any, name: str) -> tuple[Any] | None:
    """Returns the value of an option that is not pandas' own, and None for one that is."""
    try:
        value = pandas.get_option(name)
        usual = _USUAL.get(name)
        return None if value in (usual if isinstance(usual, tuple) else (usual,)) else (value,)
    except Exception:  # an older pandas
        return None


# In a terminal, pandas finds the number of columns out for itself: 0.
_USUAL = {
    "display.max_rows": 60,
    "display.min_rows": 10,
    "display.max_columns": (0, 20),
    "display.max_colwidth": 50,
    "display.show_dimensions": "truncate",
}


def _cut(shape: tuple[int, int], rows: int, columns: int) -> str:
    """Says that our own limit cut a table which the options do not cut."""
    sides = (shape[0], rows, _MOST_ROWS, "rows"), (shape[1], columns, _MOST_COLUMNS, "columns")
    found = [f"{most:,} {what}" for size, shown, most, what in sides if size > shown == most]
    return f"; at most {' and '.join(found)} of a table are shown" if found else ""


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
    if is_a(value, "pandas", "DataFrame") and len(value) <= _JSON_ROWS:
        return str(value.to_json(orient="records", date_format="iso", default_handler=str))
    if is_a(value, "polars", "DataFrame") and len(value) <= _JSON_ROWS:
        return str(value.write_json())
    return None


def _class(library: str, name: str) -> Any:
    return getattr(sys.modules.get(library), name, None)
