"""`IPython.display` for a sandbox without IPython. With it, its classes stay, and its functions display as these."""

from __future__ import annotations

import builtins
import os
import sys
from importlib.machinery import ModuleSpec
from io import StringIO
from types import ModuleType
from typing import TYPE_CHECKING

from ..run.after_import import after_import

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    class Shows(Protocol):
        """What display.py offers."""

        captured: list[dict[str, Any]] | None

        def display(self, value: object, data: dict[str, Any] | None, display_id: str | None) -> None: ...
        def show_figures(self) -> bool: ...
        def clear(self, wait: bool) -> None: ...


_display: Shows
_shell: Callable[[], Any]
_count = 0


def install(display: Shows, shell: Callable[[], Any]) -> None:
    """Once, before the first cell. `shell` makes what get_ipython() returns."""
    global _display, _shell
    _display, _shell = display, shell
    builtins.display = _FUNCTIONS["display"]  # type: ignore[attr-defined]
    builtins.get_ipython = get_ipython  # type: ignore[attr-defined]
    builtins.__sandbridge_shown__ = _shown  # type: ignore[attr-defined]
    sys.meta_path.append(_Finder())
    after_import("IPython.core.display_functions", lambda module: vars(module).update(_FUNCTIONS))
    after_import("tqdm.notebook", _without_widgets)
    after_import("IPython", lambda module: vars(module).update(get_ipython=get_ipython))


def _without_widgets(module: Any) -> None:
    """Bars of notebooks are widgets: those of terminals stand in for them."""
    bars = sys.modules["tqdm.std"]
    vars(module).update(tqdm=bars.tqdm, tqdm_notebook=bars.tqdm, trange=bars.trange, tnrange=bars.trange)


# ---- functions


def display(
    *objs: Any, display_id: str | bool | None = None, raw: bool = False, clear: bool = False, **_: object
) -> DisplayHandle | None:
    """Show values as they are: text, images, tables. With `display_id`, returns a handle, whose `update` replaces them."""
    global _count
    if display_id is True:
        _count += 1
        display_id = f"display-{_count}"
    if clear:
        clear_output(wait=True)
    for value in objs:
        _display.display(value, dict(value) if raw else None, display_id or None)
    return DisplayHandle(display_id) if display_id else None


def _shown(value: object) -> None:
    """A value of a cell that shows all."""
    if value is not None:
        display(value)


def update_display(obj: Any, *, display_id: str, **options: Any) -> None:
    display(obj, display_id=display_id, **options)


def clear_output(wait: bool = False) -> None:
    """Take back what the cell has shown so far; with `wait`, when it shows more."""
    _display.clear(wait)


def publish_display_data(data: dict[str, Any], metadata: object = None, **_: object) -> None:
    display(data, raw=True)


class DisplayHandle:
    def __init__(self, display_id: str | None = None) -> None:
        self.display_id = display_id or f"display-{id(self)}"

    def display(self, obj: Any, **options: Any) -> None:
        display(obj, display_id=self.display_id, **options)

    update = display


_FUNCTIONS: dict[str, Any] = {
    "display": display,
    "update_display": update_display,
    "clear_output": clear_output,
    "publish_display_data": publish_display_data,
}


# ---- capture


class RichOutput:
    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def _ipython_display_(self) -> None:
        display(self.data, raw=True)

    display = _ipython_display_


class CapturedIO:
    """What would have been printed and displayed."""

    def __init__(self) -> None:
        self.streams = StringIO(), StringIO()
        self.shown: list[dict[str, Any]] = []

    stdout = property(lambda self: self.streams[0].getvalue())
    stderr = property(lambda self: self.streams[1].getvalue())
    outputs = property(lambda self: list(map(RichOutput, self.shown)))

    def show(self) -> None:
        print(self.stdout, end="")
        print(self.stderr, end="", file=sys.stderr)
        display(*self.shown, raw=True)

    __call__ = show

    def __str__(self) -> str:
        return str(self.stdout)


class capture_output:
    """As that of IPython.utils.capture, and for `%%capture`."""

    def __init__(self, stdout: bool = True, stderr: bool = True, display: bool = True) -> None:
        self._kinds = stdout, stderr, display

    def __enter__(self) -> CapturedIO:
        now = self._before = sys.stdout, sys.stderr, _display.captured
        made = CapturedIO()
        parts = (new if wanted else old for wanted, new, old in zip(self._kinds, (*made.streams, made.shown), now))
        sys.stdout, sys.stderr, _display.captured = parts  # type: ignore[assignment]
        return made

    def __exit__(self, *_: object) -> None:
        _display.show_figures()
        sys.stdout, sys.stderr, _display.captured = self._before


# ---- classes


class DisplayObject:
    """Data, or a file or an address with it, of one kind."""

    _mode = "r"

    def __init__(self, data: Any = None, url: str | None = None, filename: Any = None, **_: object) -> None:
        data = os.fspath(data) if hasattr(type(data), "__fspath__") else data
        if isinstance(data, str) and url is None and data.startswith(("http://", "https://")):
            data, url = None, data
        elif isinstance(data, str) and filename is None and os.path.isfile(data[:4096]):
            data, filename = None, data
        self.data, self.url, self.filename = data, url, filename
        if filename is not None:
            with open(filename, self._mode, encoding=None if "b" in self._mode else "utf-8") as file:
                self.data = file.read()

    def __repr__(self) -> str:
        return f"<IPython.core.display.{type(self).__name__} object>"

    def content(self) -> Any:
        return self.data


class HTML(DisplayObject):
    _repr_html_ = __html__ = DisplayObject.content


class Markdown(DisplayObject):
    _repr_markdown_ = DisplayObject.content


class Latex(DisplayObject):
    _repr_latex_ = DisplayObject.content


class Math(Latex):
    def _repr_latex_(self) -> Any:
        return f"$\\displaystyle {str(self.data).strip('$')}$"


class SVG(DisplayObject):
    _repr_svg_ = DisplayObject.content


class JSON(DisplayObject):
    def _repr_json_(self) -> Any:
        import json

        return json.loads(self.data) if isinstance(self.data, str) else self.data


class GeoJSON(JSON):
    pass


class Video(DisplayObject):
    _mode = "rb"

    def _repr_html_(self) -> str:
        return f'<video src="{self.url or self.filename}"></video>'


class Pretty(DisplayObject):
    def __repr__(self) -> str:
        return str(self.data)


class Code(Pretty):
    pass


class Javascript(DisplayObject):
    def __repr__(self) -> str:
        return "<JavaScript, which no client of a cell runs>"


_PICTURES = {b"\x89PNG": "image/png", b"\xff\xd8": "image/jpeg", b"GIF8": "image/gif", b"RIFF": "image/webp"}


class Image(DisplayObject):
    _mode = "rb"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        if self.data is None:
            return {"text/plain": repr(self), "text/html": f'<img src="{self.url}"/>'}
        for start, mime in _PICTURES.items():
            if bytes(self.data[:4]).startswith(start):
                return {"text/plain": repr(self), mime: self.data}
        return {"text/plain": repr(self)}


class Audio(DisplayObject):
    _mode = "rb"

    def __init__(
        self, data: Any = None, filename: Any = None, url: str | None = None, rate: int | None = None, **_: object
    ) -> None:
        if rate is not None and not isinstance(data, (str, bytes)):
            data = _wave(data, rate)
        super().__init__(data, url, filename)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        is_mp3 = bytes(self.data[:3]) == b"ID3" if self.data else False
        return {"text/plain": repr(self), **({"audio/mpeg" if is_mp3 else "audio/wav": self.data} if self.data else {})}


class IFrame:
    def __init__(self, src: str, width: object, height: object, **_: object) -> None:
        self.src = src

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.src}"></iframe>'


class YouTubeVideo(IFrame):
    def __init__(self, id: str, width: object = 400, height: object = 300, **_: object) -> None:
        super().__init__(f"https://www.youtube.com/embed/{id}", width, height)


class FileLink:
    def __init__(self, path: Any, *_: object, **__: object) -> None:
        self.path = os.fspath(path)

    def __repr__(self) -> str:
        return str(os.path.abspath(self.path))


class FileLinks(FileLink):
    pass


def _wave(samples: Any, rate: int) -> bytes:
    """The samples as a sound of 16 bits, as loud as can be."""
    import wave
    from array import array
    from io import BytesIO

    channels = [list(row) for row in samples] if hasattr(samples[0], "__len__") else [list(samples)]
    loudest = max((abs(one) for row in channels for one in row), default=0) or 1
    stream = BytesIO()
    with wave.open(stream, "wb") as file:
        file.setnchannels(len(channels))
        file.setsampwidth(2)
        file.setframerate(rate)
        sound = array("h", [int(one / loudest * 32767) for frame in zip(*channels) for one in frame])
        file.writeframes(sound.tobytes())
    return stream.getvalue()


def _showing(kind: Callable[[Any], Any]) -> Callable[..., None]:
    def show(*objs: Any, raw: bool = False, **_: object) -> None:
        for one in objs:
            display(kind(one) if raw or isinstance(one, (str, bytes)) else one)

    return show


# ---- modules


def get_ipython() -> Any:
    """What cells have of IPython's shell. Libraries, which would show by it, are told that there is none."""
    return _shell() if sys._getframe(1).f_globals.get("__name__") == "__main__" else None  # noqa: SLF001


class InteractiveShell:
    """Of the shell, cells have the one option that notebooks set: "all" shows the value of each expression."""

    ast_node_interactivity = "last_expr"

    @classmethod
    def instance(cls) -> type[InteractiveShell]:
        return cls


def set_matplotlib_formats(*_: object, **__: object) -> None:
    """Figures are shown as PNG."""


_PACKAGES = ("matplotlib_inline", "IPython", "IPython.core", "IPython.lib", "IPython.utils")
_MODULES: dict[str, tuple[str, ...] | None] = {
    **dict.fromkeys(_PACKAGES, ()),
    "IPython": ("get_ipython", "display"),
    "IPython.core.getipython": ("get_ipython",),
    "IPython.core.interactiveshell": ("InteractiveShell",),
    "IPython.utils.capture": ("capture_output", "CapturedIO"),
    "IPython.utils.io": ("capture_output", "CapturedIO"),
    "matplotlib_inline.backend_inline": ("set_matplotlib_formats",),
    **dict.fromkeys(("IPython.display", "IPython.core.display", "IPython.lib.display"), None),
}


class _Finder:
    """Stands after all others: finds IPython only where it is not installed."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in _MODULES:
            return None
        return ModuleSpec(name, self, origin="built into cells", is_package=name in _PACKAGES)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        names = _MODULES[module.__name__]
        if names is None:
            module.__dict__.update(_of_display())
            return
        found = {**globals(), "version_info": (9, 0, 0), "__version__": "9.0.0"}
        module.__dict__.update({name: found[name] for name in (*names, "version_info", "__version__")})


def _of_display() -> dict[str, Any]:
    shown = (DisplayHandle, DisplayObject, IFrame, FileLink)
    classes = {name: kind for name, kind in globals().items() if isinstance(kind, type) and issubclass(kind, shown)}
    showing = {
        f"display_{kind.__name__.lower()}": _showing(kind)
        for kind in (HTML, Markdown, Latex, SVG, JSON, Pretty, Javascript)
    }
    return {**_FUNCTIONS, **showing, **classes, "set_matplotlib_formats": set_matplotlib_formats}
