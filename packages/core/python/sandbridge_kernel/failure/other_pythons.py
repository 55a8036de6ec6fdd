"""Finds advice for code of another Python: of version 2, of a newer one, and of one with processes and signals."""

from __future__ import annotations

import errno
import re
import sys

NO_PROCESSES = "No process can be started in this sandbox: compute in a loop."
_NAMES_OF_2 = {
    "xrange": "range",
    "raw_input": "input",
    "unicode": "str",
    "basestring": "str",
    "long": "int",
    "unichr": "chr",
    "reduce": "functools.reduce",
    "execfile": "exec(open(path).read())",
    "has_key": "`key in d`",
    "iteritems": "items",
    "itervalues": "values",
    "iterkeys": "keys",
}
_SYNTAX_OF_2 = (
    (r"\n.*\bexcept\b[^:]+, *\w+ *:", "`except Error as e:`"),
    (r"\n.*\braise\s+[\w.]+ *,", "`raise Error(text)`"),
    (r"\n.*<>", "`!=`"),
    (r"\n.*\b\d+L\b", "the number without L"),
    (r"\n.*\bur[\"']", "the text without u"),
)
_FOREIGN = (
    (r"\Ainvalid character '[“”‘’„‚«»′″]'", "quotes as \" or '"),
    (r"\Ainvalid character '[—―]'", "a minus as -"),
    (r"\Ainvalid character '[·•∙⋅]'", "a product as *"),
    (r"\Ainvalid character '…'", "out what … stands for"),
)
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
    if isinstance(error, (NameError, AttributeError)) and name in _NAMES_OF_2:
        return {"hint": f"This is Python 3: write {_NAMES_OF_2[name]}."}
    if isinstance(error, SyntaxError):
        return _of_syntax(error)
    if sys.platform == "emscripten":
        if isinstance(error, AttributeError) and name in _NOT_EMBEDDED:
            return {"hint": _NOT_EMBEDDED[name]}
        if isinstance(error, OSError) and error.errno in (errno.ENOSYS, errno.ENOTSUP) and error.filename is None:
            return {"hint": NO_PROCESSES}
    return None


def _of_syntax(error: SyntaxError) -> dict[str, str] | None:
    said = f"{error.msg}\n{error.text or ''}"
    if old := next((what for pattern, what in _SYNTAX_OF_2 if re.search(pattern, said)), None):
        return {"hint": f"This is Python 3: write {old}."}
    if sign := next((what for pattern, what in _FOREIGN if re.search(pattern, said)), None):
        return {"hint": f"Write {sign}."}
    told = (what for since, pattern, what in _NEWER if sys.version_info < since and re.search(pattern, said))
    version = ".".join(map(str, sys.version_info[:2]))
    return next(({"hint": f"This is Python {version}: {what}."} for what in told), None)
