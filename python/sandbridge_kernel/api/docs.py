"""Tool docs as a cell sees them: mappings that print as their one line. And what can be made of one: a signature, a docstring."""

from collections.abc import Iterable

from ..values import Record
from . import bridge

# Keys of the system this one re-creates. They are looked up, not stored: what is printed or sent as JSON stays short.
_OTHER_NAMES = {"name": "tool", "alias": "toolAlias", "input_schema": "inputSchema", "output_schema": "outputSchema"}
_SCHEMAS = ("inputSchema", "outputSchema")


class ToolDoc(Record):
    """A tool doc. Prints as its line, `await mcp_github.create_issue(…)`; the fields are keys and attributes.

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

    def __repr__(self):
        return str(self.get("line") or dict.__repr__(self))

    __str__ = __repr__


class ToolDocs(list):
    """Tool docs, one line each when printed."""

    def __repr__(self):
        return "\n".join(map(str, self)) or "(no tools)"

    def __getitem__(self, index: object) -> object:
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
        raise TypeError(f"these are the docs of {len(self)} tools: choose one, as in docs[0][{key!r}], or name the tool when you ask")


class ToolMap(dict):
    """The docs of a server's tools by Python name; a tool's own name finds it as well."""

    def __missing__(self, name: object) -> ToolDoc:
        for doc in self.values():
            if doc["tool"] == name:
                return doc
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self, name) or any(doc["tool"] == name for doc in self.values())

    def get(self, name: object, default: object = None) -> object:
        return self[name] if name in self else default


def tool_map(docs: Iterable[ToolDoc]) -> ToolMap:
    return ToolMap((doc["toolAlias"], doc) for doc in docs)


def tool_docs(value):
    return ToolDocs(ToolDoc(doc) if isinstance(doc, dict) else doc for doc in value or ())


def docstring(doc):
    """What help() and __doc__ say."""
    said = [f"    {param['name']}: {param['description']}" for param in _params(doc) if param.get("description")]
    parameters = "Parameters:\n" + "\n".join(said) if said else None
    return "\n\n".join(str(part) for part in (doc.get("line"), doc.get("description"), parameters) if part)


def signature(doc):
    """An inspect.Signature of the parameters in a full tool doc, which come in the order of positional arguments."""
    from ast import literal_eval
    from inspect import Parameter, Signature

    parameters = []
    for param in _params(doc):
        default = Parameter.empty
        if not param.get("required"):
            default = literal_eval(param["default"]) if "default" in param else _OMITTED
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


def parameter_names(doc):
    return [param["name"] for param in _params(doc)]


def _params(doc):
    params = doc.get("params")
    return params if isinstance(params, list) else []


class _Annotation(str):
    """A type as text that prints without quotes."""

    __slots__ = ()

    def __repr__(self):
        return str(self)


class _Omitted:
    def __repr__(self):
        return "..."


_OMITTED = _Omitted()  # the default of what may be left out and has no default of its own
