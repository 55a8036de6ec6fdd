"""Tool docs as a cell sees them: mappings that print as their one line. And what can be made of one: a signature, a docstring."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..data.values import Listed, Record
from . import bridge

if TYPE_CHECKING:
    from inspect import Signature

# Keys of the system that this one re-creates: looked up, not stored, so that printed and JSON forms stay short.
_OTHER_NAMES = {"name": "tool", "alias": "toolAlias", "input_schema": "inputSchema", "output_schema": "outputSchema"}
_SCHEMAS = ("inputSchema", "outputSchema")


class ToolDoc(Record):
    """A tool doc. Prints as its line, `await mcp_github.create_issue(…)`, and in full with all that is known; the fields are keys and attributes.

    `name`, `alias` and `input_schema` are there as well; a schema that the doc does not hold is fetched.
    """

    __slots__ = ()

    def __missing__(self, key: object) -> object:
        own = _OTHER_NAMES.get(key, key) if isinstance(key, str) else key
        if own in _SCHEMAS and "tool" in self and "server" in self:
            if not dict.__contains__(self, own):
                found = bridge.ask_sync("query_tool_docs", server=self["server"], tool=self["tool"], detail="full")
                return found[0].get(own)
        if own == key or own not in self:
            raise KeyError(key)
        return self[own]

    def get(self, key: object, default: object = None) -> object:
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: object) -> bool:
        return dict.__contains__(self, key) or (isinstance(key, str) and key in _OTHER_NAMES)

    def __repr__(self) -> str:
        if "params" in self:
            return docstring(self)
        return f"{self.get('line') or dict.__repr__(self)}{_worked(self)}"


class ToolDocs(list[ToolDoc]):
    """Tool docs, one line each when printed."""

    @property
    def weak(self) -> bool:
        """Whether a search found no tool that fits: these are only the nearest."""
        return self._weak_note() is not None

    def _weak_note(self) -> str | None:
        return next((str(doc["weak"]) for doc in self if "weak" in doc), None)

    def __repr__(self) -> str:
        apart = "\n\n" if any("params" in doc for doc in self) else "\n"
        note = self._weak_note()
        listed = apart.join(map(str, self)) or "(no tools)"
        return listed if note is None else f"{note}\n{listed}"

    def __getitem__(self, index: Any) -> Any:  # also by key
        if isinstance(index, str):
            return self._only(index)[index]
        found = super().__getitem__(index)
        return ToolDocs(found) if isinstance(index, slice) else found

    def __contains__(self, wanted: object) -> bool:
        if isinstance(wanted, str):
            return any(wanted in (doc.get("tool"), doc.get("toolAlias")) for doc in self)
        return super().__contains__(wanted)

    def _only(self, key: str) -> ToolDoc:
        if len(self) == 1:
            return super().__getitem__(0)
        raise TypeError(
            f"these are the docs of {len(self)} tools: choose one, as in docs[0][{key!r}], or name the tool when you ask"
        )


_PAGE_CHARS = 6_000


class ServerTools(ToolDocs):
    """The tools of a server: when printed, a line each, or all that is known in full, up to a budget. A slice prints the rest."""

    def __repr__(self) -> str:
        return page(self, str)

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return ServerTools(found) if isinstance(index, slice) else found


def page(tools: ToolDocs, text_of: Callable[[ToolDoc], str]) -> str:
    """The first tools of a server, as many as fit, and how to see the others."""
    apart = "\n\n" if text_of is str and any("params" in doc for doc in tools) else "\n"
    shown: list[str] = []
    left = _PAGE_CHARS
    for text in map(text_of, tools):
        left -= len(text) + len(apart)
        if left < 0 and shown:
            break
        shown.append(text)
    rest = len(tools) - len(shown)
    if rest:
        server = tools[0]["server"]
        shown.append(
            f"{len(shown)} of {len(tools)} tools. The others: print((await runtime.query_tool_docs({server!r}))[-{rest}:]). "
            f"To find one: await runtime.search_tool_docs('…', servers=[{server!r}])"
        )
    return apart.join(shown) or "(no tools)"


def line_of(doc: ToolDoc) -> str:
    return str(doc.get("line") or dict.__repr__(doc))


class ToolMap(dict[str, ToolDoc]):
    """The docs of a server's tools by Python name; a tool's own name finds it as well."""

    def __missing__(self, name: object) -> ToolDoc:
        for doc in self.values():
            if doc["tool"] == name:
                return doc
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self, name) or any(doc["tool"] == name for doc in self.values())

    def get(self, name: Any, default: object = None) -> Any:
        return self[name] if name in self else default


def tool_map(docs: Iterable[ToolDoc]) -> ToolMap:
    return ToolMap((doc["toolAlias"], doc) for doc in docs)


class ServerDoc(Record):
    """A server. Prints as one line; the fields are keys and attributes."""

    __slots__ = ()

    def __repr__(self) -> str:
        variable = f"mcp_{self['alias']}"
        named = variable if self["alias"] == self["name"] else f"{variable} ({self['name']})"
        return ": ".join(filter(None, (f"{named}, {self['state']}", self["description"])))


class ServerDocs(Listed[ServerDoc]):
    _none = "(no servers)"


def server_docs(value: Iterable[Any]) -> ServerDocs:
    return ServerDocs(map(ServerDoc, value))


def server_tools(value: Iterable[Any] | None) -> ServerTools:
    return ServerTools(tool_docs(value))


def tool_docs(value: Iterable[Any] | None) -> ToolDocs:
    return ToolDocs(ToolDoc(doc) if isinstance(doc, dict) else doc for doc in value or ())


class GroupedDocs(dict[str, ToolDocs]):
    """Tool docs by the query that found them, each group under its query when printed."""

    def __repr__(self) -> str:
        return "\n\n".join(f"{query}:\n{docs!r}" for query, docs in self.items()) or "(no tools)"


def docstring(doc: dict[str, Any]) -> str:
    """What help(), __doc__ and docs in full say. The server's description is indented: no line of it reads like one of ours."""
    about = "\n".join(f"    {line}".rstrip() for line in str(doc.get("description") or "").splitlines())
    said = [_parameter_line(param) for param in _params(doc)]
    parameters = "Parameters:\n" + "\n".join(said) if said else None
    example = f"Example: {doc['example']}" if doc.get("example") else None
    line = f"{doc.get('line') or ''}{_worked(doc)}"
    schema = "The whole schema: .inputSchema of this doc" if said else None
    return "\n\n".join(str(part) for part in (line, about, parameters, example, schema) if part)


def _worked(doc: dict[str, Any]) -> str:
    """The arguments of a call that worked, on a line of its own: a server's words cannot begin one."""
    return f"\n  # worked: {doc['worked']}" if doc.get("worked") else ""


def _parameter_line(param: dict[str, Any]) -> str:
    default = "" if param.get("required") else f" = {param.get('default', 'None')}"
    description = f"  # {param['description']}" if param.get("description") else ""
    # Indented: no line of a server's text reads like a parameter.
    details = "".join(f"\n        {line}" for line in param.get("details", ()))
    return f"    {param['name']}: {param.get('type', 'Any')}{default}{description}{details}"


def signature(doc: dict[str, Any]) -> "Signature":
    """An inspect.Signature of the parameters in a full tool doc, which come in the order of positional arguments."""
    from ast import literal_eval
    from inspect import Parameter, Signature

    parameters = []
    for param in _params(doc):
        default: Any = Parameter.empty
        if not param.get("required"):
            default = literal_eval(param["default"]) if "default" in param else None
        annotation = _Annotation(param["type"]) if "type" in param else Parameter.empty
        kind = Parameter.POSITIONAL_OR_KEYWORD
        parameters.append(Parameter(param["name"], kind, default=default, annotation=annotation))
    if doc.get("open"):
        name = "more"
        while any(parameter.name == name for parameter in parameters):
            name += "_"
        parameters.append(Parameter(name, Parameter.VAR_KEYWORD))
    returns = _Annotation(doc["returns"]) if doc.get("returns") else Signature.empty
    return Signature(parameters, return_annotation=returns)


def parameter_names(doc: dict[str, Any]) -> list[str]:
    return [param["name"] for param in _params(doc)]


def _params(doc: dict[str, Any]) -> list[dict[str, Any]]:
    params = doc.get("params")
    return params if isinstance(params, list) else []


# The module from which cells import them, also shown by help().
for _kind in (ToolDoc, ToolDocs, ServerTools, ServerDoc, ServerDocs, GroupedDocs):
    _kind.__module__ = "mcp.runtime"


class _Annotation(str):
    """A type as text that prints without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)
