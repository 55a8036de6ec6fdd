"""Tool docs as a cell sees them: mappings that print as their one line. And what can be made of one: a signature, a docstring."""

from ..values import Record


class ToolDoc(Record):
    """A tool doc. Prints as its line, `await mcp_github.create_issue(…)`; the fields are keys and attributes."""

    __slots__ = ()

    def __repr__(self):
        return str(self.get("line") or dict.__repr__(self))

    __str__ = __repr__


class ToolDocs(list):
    """Tool docs, one line each when printed."""

    def __repr__(self):
        return "\n".join(map(str, self)) or "(no tools)"

    def __getitem__(self, index):
        found = super().__getitem__(index)
        return ToolDocs(found) if isinstance(index, slice) else found


def tool_docs(value):
    return ToolDocs(ToolDoc(doc) if isinstance(doc, dict) else doc for doc in value or ())


def docstring(doc):
    """What help() and __doc__ say."""
    return "\n\n".join(str(part) for part in (doc.get("line"), doc.get("description")) if part)


def signature(doc):
    """An inspect.Signature from the input schema: what is required first, as the bridge numbers positional arguments."""
    from inspect import Parameter, Signature

    parameters = []
    for name, schema, required in _parameters(doc):
        default = Parameter.empty if required else schema.get("default")
        kind = Parameter.POSITIONAL_OR_KEYWORD
        parameters.append(Parameter(name, kind, default=default, annotation=_ANNOTATIONS.get(_type(schema), Parameter.empty)))
    return Signature(sorted(parameters, key=lambda parameter: parameter.default is not Parameter.empty))


_ANNOTATIONS = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}


def _type(schema):
    kind = schema.get("type")
    return kind if isinstance(kind, str) else None


def parameter_names(doc):
    return [name for name, _, _ in _parameters(doc)]


def _parameters(doc):
    schema = doc.get("inputSchema")
    schema = schema if isinstance(schema, dict) else {}
    properties = schema.get("properties")
    required = schema.get("required")
    required = required if isinstance(required, list) else []
    for name, inner in (properties.items() if isinstance(properties, dict) else ()):
        if str(name).isidentifier():
            yield str(name), inner if isinstance(inner, dict) else {}, name in required
