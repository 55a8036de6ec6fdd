"""Finds advice for code of another Python: of a newer one, and of one with processes and signals."""

from __future__ import annotations

import errno
import re
import sys

from .outside_hints import frames_of

NO_BROWSER = "A cell reaches no browser, no JavaScript and no network."
NO_PROCESSES = "No process can be started in this sandbox: compute in a loop."
# What an older Python cannot read, in what it says about it and the line.
_NEWER = (
    ((3, 12), r"""\Af-string.*\n.*\bf(["']).*\{[^}]*\1[^}]*\}""", "the quotes of an f-string do not stand inside {}"),
    ((3, 12), r"\Af-string.*(backslash|'#')", "no backslash and no # stand inside {} of an f-string"),
    ((3, 12), r"\n\s*type \w+.*=", "it is written without `type`"),
    ((3, 12), r"\n\s*(?:async )?(?:def|class) \w+\[", "type parameters are made with typing.TypeVar"),
    ((3, 14), r"""\n.*\b(?:rt|tr?)["']""", "there are f-strings and no t-strings"),
)
_NO_TIMERS = "This sandbox has no timers that interrupt: `async with asyncio.timeout(3):` ends what awaits."
_NOT_EMBEDDED = {
    "alarm": _NO_TIMERS,
    "setitimer": _NO_TIMERS,
    "tzset": "This sandbox has one time zone: convert with .astimezone(zoneinfo.ZoneInfo(name)).",
}


def of_other_pythons(error: BaseException) -> dict[str, str] | None:
    name = str(getattr(error, "name", None))
    if isinstance(error, SyntaxError):
        return _of_syntax(error)
    if sys.platform == "emscripten":
        if isinstance(error, AttributeError) and name in _NOT_EMBEDDED:
            return {"hint": _NOT_EMBEDDED[name]}
        if any(str(frame.f_globals.get("__name__")).startswith("pyodide.") for frame, _ in frames_of(error)):
            return {"hint": NO_BROWSER}
        if isinstance(error, OSError) and error.errno in (errno.ENOSYS, errno.ENOTSUP) and error.filename is None:
            return {"hint": NO_PROCESSES}
    return None


def _of_syntax(error: SyntaxError) -> dict[str, str] | None:
    said = f"{error.msg}\n{error.text or ''}"
    told = (what for since, pattern, what in _NEWER if sys.version_info < since and re.search(pattern, said))
    if error.msg == "'return' outside function":
        return {"hint": "A cell is no function: the value of its last line is shown."}
    version = ".".join(map(str, sys.version_info[:2]))
    return next(({"hint": f"This is Python {version}: {what}."} for what in told), None)
