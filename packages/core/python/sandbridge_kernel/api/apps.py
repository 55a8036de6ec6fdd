"""`runtime.show_app`: pages that people can touch. The bridge offers them to clients that show apps."""

import re
from typing import Any

from ..show.charts import whole_page
from .artifacts import Artifact, as_json, save_artifact
from .errors import ArgumentsError

__all__ = ["show_app"]

_MAX_PAGE_CHARS = 8 << 20  # what a client is sent

_app_count = 0  # of this session; each app has a name of its own


def show_app(html: Any, data: object = None, name: str | None = None) -> Artifact:
    """Show the user a page that can be touched: `html` is a page with its scripts inside, or a chart of Altair or Plotly.

    `data` has a form in JSON; the page's scripts find it as `data`. The page is kept as an artifact. It has no network:
    it loads nothing from elsewhere, and calls no tools. Handlers in HTML that its scripts make (`innerHTML` with `onclick`)
    do not run: use `addEventListener`.
    """
    global _app_count
    page = whole_page(html)
    if not isinstance(page, str):
        raise ArgumentsError(f"the page is a str of HTML or a chart, not {type(page).__name__}")
    if data is not None:
        # In a script, `<` could end it.
        page = _with_script(page, "window.data = " + as_json(data).replace("<", "\\u003c"))
    if len(page) > _MAX_PAGE_CHARS:
        raise ArgumentsError(f"the page has {len(page):,} characters with its data, at most {_MAX_PAGE_CHARS:,}")
    if name is None:
        _app_count += 1
        name = f"app-{_app_count}.html"
    elif not name.endswith((".html", ".htm")):
        raise ArgumentsError(f"the name of a page ends in .html, unlike {name!r}")
    return save_artifact(name, page.encode("utf-8", "surrogatepass"))


def _with_script(page: str, script: str) -> str:
    """The script runs before all others. It stands after the page's doctype, without which browsers imitate old ones."""
    start = re.match(r"(?is)\s*(?:<!--.*?-->\s*)*<!doctype[^>]*>(?:\s*<html[^>]*>)?(?:\s*<head[^>]*>)?", page)
    at = start.end() if start else 0
    return f"{page[:at] or '<!doctype html><meta charset=utf-8>'}<script>{script}</script>{page[at:]}"
