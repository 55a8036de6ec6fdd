"""Reports text of charts that their font cannot draw: one note for each script in place of many warnings. A font that is
not there is mentioned once in a cell, and not for each text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..run.after_import import after_import

if TYPE_CHECKING:
    from logging import LogRecord

_MAX_SHOWN = 8  # characters
# How the names of characters begin, the script, and a package with a font: what is added, and what a cell writes then.
_JAPANESE = ("Japanese", "matplotlib-fontja", "import matplotlib_fontja")
_SCRIPTS = {
    "HIRAGANA": _JAPANESE,
    "KATAKANA": _JAPANESE,
    "HANGUL": ("Korean", "koreanize-matplotlib", "import koreanize_matplotlib"),
    "CJK": ("Chinese", "mplfonts", "from mplfonts import use_font; use_font('Noto Sans CJK SC')"),
}

_missing: dict[str, str] = {}  # character -> names of the fonts that lack it


_logged: set[str] = set()


def install() -> None:
    after_import("matplotlib._text_helpers", lambda module: vars(module).update(warn_on_missing_glyph=_note))
    after_import("matplotlib.font_manager", lambda module: module._log.addFilter(_is_news))  # noqa: SLF001


def _is_news(record: LogRecord) -> bool:
    before = len(_logged)
    _logged.add(record.getMessage())
    return len(_logged) > before


def _note(codepoint: int, fonts: str = "") -> None:
    _missing[chr(codepoint)] = str(fonts)


def notes() -> list[str]:
    """Returns notes about this cell's text, and forgets it."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for character in _missing:
        found.setdefault(_script(character), []).append(character)
    # Japanese has Chinese characters, too.
    chinese = _SCRIPTS["CJK"]
    if _JAPANESE in found and chinese in found:
        found[_JAPANESE] += found.pop(chinese)
    fonts = ", ".join(dict.fromkeys(_missing.values()))
    _missing.clear()
    _logged.clear()
    return [_told(script, "".join(characters), fonts) for script, characters in found.items()]


def _script(character: str) -> tuple[str, str, str]:
    import unicodedata

    first = unicodedata.name(character, "").partition(" ")[0].partition("-")[0]
    if first in _SCRIPTS:
        return _SCRIPTS[first]
    is_letter = unicodedata.category(character)[0] in "LM"
    return first.capitalize() if is_letter and first else "symbols", "", ""


def _told(script: tuple[str, str, str], characters: str, fonts: str) -> str:
    name, package, use = script
    shown = characters[:_MAX_SHOWN] + ("…" if len(characters) > _MAX_SHOWN else "")
    what = "symbols" if name == "symbols" else f"{name} text"
    remedy = (
        f"The user can add a font: `sandbridge packages add {package}`; then write `{use}` before the chart."
        if package
        else "No package adds a font for it: write it in another way, such as in Latin letters."
    )
    font = f"font ({fonts})" if fonts else "font"
    return f"A chart has {what} ({shown}) that its {font} lacks, so it shows boxes. {remedy}"
