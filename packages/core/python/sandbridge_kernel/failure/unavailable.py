"""The outcome of a cell in a language that cannot run here."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..wire.frame_types import Outcome


def unavailable(message: str, hint: str) -> Outcome:
    """Returns the outcome, with what the reader can do instead."""
    return {
        "status": "error",
        "error": {"name": "LanguageUnavailable", "message": message, "traceback": "", "hint": hint},
    }
