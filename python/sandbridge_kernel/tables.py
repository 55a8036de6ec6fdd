"""Data frames of pandas and polars as compact text with their shape. Neither is loaded here: only what the cell has imported is looked at."""

import sys

_ROWS, _COLUMNS, _CELL_CHARS = 60, 30, 80
_JSON_ROWS = 1000
_OUTLINE_COLUMNS = 12


def table(value):
    """The MIME bundle of a data frame; None for any other value."""
    frame = getattr(sys.modules.get("pandas"), "DataFrame", None)
    if not isinstance(frame, type) or not isinstance(value, frame):
        return None
    rows, columns = value.shape
    text = value.to_string(max_rows=_ROWS, min_rows=_ROWS // 3, max_cols=_COLUMNS, max_colwidth=_CELL_CHARS, show_dimensions=False)
    return {"text/plain": f"{text}\n[{rows} rows × {columns} columns]"}


def outline(value):
    """A data frame or an array in a few words; None for any other value, and for one of a class derived from them, which could run its own code."""
    if type(value) is getattr(sys.modules.get("pandas"), "DataFrame", ()):
        names = [str(name)[:40] for name in value.columns[:_OUTLINE_COLUMNS] if type(name) in (str, int)]
        more = ", …" if len(value.columns) > _OUTLINE_COLUMNS else ""
        return f"<DataFrame {value.shape[0]} × {value.shape[1]}: {', '.join(names)}{more}>"
    if type(value) is getattr(sys.modules.get("numpy"), "ndarray", ()):
        return f"<ndarray {value.shape} of {value.dtype}>"
    return None


def records(value):
    """A data frame as JSON records; None for any other value, and for a long one."""
    frame = getattr(sys.modules.get("pandas"), "DataFrame", None)
    if not isinstance(frame, type) or not isinstance(value, frame) or len(value) > _JSON_ROWS:
        return None
    return value.to_json(orient="records", date_format="iso", default_handler=str)
