"""Implements the command `mcp`: calls a tool, searches, and shows help. Takes its arguments and returns its output."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from ..api import bridge, runtime
from ..api.errors import ArgumentsError, MCPError, OutcomeUnknown, ToolNotFound
from ..api.servers import registry, server_alias, server_description, server_name
from ..data.media import Media
from ..data.values import native
from .arguments import UsageError, parse, true_names

if TYPE_CHECKING:
    from typing import Any

HELP = """\
mcp SERVER TOOL [--name value …]   call a tool; its result is printed, as JSON unless it is a text
mcp again SERVER TOOL …            make a call that may have been made before
mcp search WORDS                   find tools of all servers
mcp SERVER [--help]                list the tools of a server
mcp SERVER TOOL --help             show what a tool takes

--name value    an argument; --name alone for true, --no-name for false; repeat it for a list
--json '{…}'    arguments as one JSON object, also those that the tool does not list; `--json -` reads it from stdin
--raw           print the MCP result untouched

Exit status: 0, 1 when the call failed, 2 when the command cannot be read.
`mcp` is a shell function: programs such as xargs reach it with `bash -c 'mcp …'`."""

_SHOWN = re.compile(r"\bmcp_(\w+)\.(\w+)(?!\()\b")
_MADE_AGAIN = re.compile(r"await runtime\.again\(mcp_(\w+)\.(\w+)\(…\)\)")
_HELP_WORDS = ("--help", "-h", "help")
_LIST_CHARS = 60_000
_MAX_USAGES = 20


class Reply:
    """Output and exit status of the command."""

    def __init__(self, out: str | bytes = "", err: str = "", status: int = 0) -> None:
        self.out = out.encode("utf-8", "replace") if isinstance(out, str) else out
        self.err = err.encode("utf-8", "replace")
        self.status = status


async def run(words: list[str], data: bytes, is_shown: bool) -> Reply:
    """`data`: its stdin. `is_shown`: its output is the cell's own, where bytes would be useless."""
    try:
        return await _run(words, data, is_shown)
    except UsageError as error:
        return Reply(err=f"mcp: {error}\nSee mcp --help.\n", status=2)
    except MCPError as error:
        _advise(error, words)
        return Reply(err=f"mcp: {error}\n", status=1)


def _advise(error: MCPError, words: list[str]) -> None:
    """Replaces what an error says for Python by the same for this command."""
    if isinstance(error, OutcomeUnknown):
        error.hint = _MADE_AGAIN.sub(r"mcp again \1 \2 …", _SHOWN.sub(r"mcp \1 \2", error.hint))
    words = words[words[:1] == ["again"] :]
    if len(words) < 2 or words[0] not in {*registry, *registry.by_alias}:
        return
    server = f"mcp {server_alias(registry[words[0]])}"
    if isinstance(error, ToolNotFound) and "await " in error.hint:
        meant = re.match(r"(Did you mean (\w+)[\w ]*\?) ", error.hint)
        error.hint = f"{meant[1]} {server} {meant[2]} --help" if meant else f"Its tools: {server} --help"
    elif isinstance(error, ArgumentsError):
        from shlex import quote

        error.message = error.message.partition(". Signature: ")[0]
        is_unlisted = isinstance(error.data, dict) and error.data.get("isUnlisted")
        anyway = "To send it all the same: --json '{…}'. " if is_unlisted and error.hint else ""
        error.hint = f"{anyway}What it takes: {server} {quote(words[1])} --help"


async def _run(words: list[str], data: bytes, is_shown: bool) -> Reply:
    if not words or words[0] in _HELP_WORDS:
        return Reply(f"{HELP}\n\n{_servers()}\n")
    if words[0] == "search":
        return await _search([word for word in words[1:] if not word.startswith("--")])
    if words[0] == "again" and len(words) > 2:
        return await runtime.again(_run(words[1:], data, is_shown))
    if words[0].startswith("-"):
        raise UsageError(f"unknown option {words[0][:80]}")
    server = server_name(registry[words[0]])
    if len(words) == 1 or words[1] in _HELP_WORDS:
        return Reply(_listing_of_server(await bridge.ask("query_tool_docs", server=server, detail="full")))
    unknown = None
    try:
        doc = (await bridge.ask("query_tool_docs", server=server, tools=[words[1]], detail="full"))[0]
    except MCPError as error:
        # The bridge refuses and records the call itself, with its own message.
        doc, unknown = {"server": server, "tool": words[1]}, error
    return await _call(doc, words[2:], data, is_shown, unknown)


async def _call(doc: Any, words: list[str], data: bytes, is_shown: bool, unknown: MCPError | None) -> Reply:
    """Calls the tool, or describes it for `--help`. `unknown`: why its docs are missing."""
    stdin = data.decode("utf-8", "replace")
    words = [f"--json={stdin}" if word == "--json=-" else word for word in words]
    for at, word in enumerate(words[1:], 1):
        if word == "-" and words[at - 1] == "--json":
            words[at] = stdin
    exact = any(word.partition("=")[0] == "--json" for word in words)
    switches: set[str] = set()
    args, kwargs = parse(words, doc.get("inputSchema"), [one["name"] for one in doc.get("params", ())], switches)
    if not switches.isdisjoint(_HELP_WORDS):
        if unknown:
            raise unknown
        return Reply(_description(doc))
    params: dict[str, Any] = {"server": doc["server"], "tool": doc["tool"], "args": args, "kwargs": kwargs}
    if exact:
        params["exact"] = True
    if "--raw" in switches:
        return Reply(_json(await bridge.ask_with("call_tool", {**params, "raw": True})))
    result = await bridge.ask_with("call_tool", params)
    value = native(result)
    if value is None:
        return Reply()
    if isinstance(value, str):
        # What is promised to be a text, such as a file, goes into a file as it is.
        is_exact = not is_shown and isinstance(result, dict) and result.get("isText")
        return Reply(value if is_exact or value.endswith("\n") else f"{value}\n")
    if isinstance(value, (bytes, Media)):
        content = value if isinstance(value, bytes) else value.data
        if not is_shown:
            return Reply(content)
        kind = value.mime_type if isinstance(value, Media) else "bytes"
        return Reply(f"<{kind}, {len(content):,} bytes: redirect them into a file>\n")
    return Reply(_json(value))


async def _search(words: list[str]) -> Reply:
    if not words:
        raise UsageError("search needs words, such as: mcp search create issue")
    # Words without quotes are one wording.
    wordings = words if any(" " in word for word in words) else " ".join(words)
    found = await bridge.ask("search_tool_docs", query=wordings, detail="full")
    if not found:
        return Reply("Nothing was found.\n")
    note = found[0].get("weak")
    return Reply(f"{note}\n{_listing(found)}" if note else _listing(found))


def _servers() -> str:
    lines = [f"  {server_alias(one)}  {server_description(one)}".rstrip() for one in registry.values()]
    return "\n".join(["Servers:", *lines]) if lines else "No server is available."


def _listing_of_server(docs: list[Any]) -> str:
    """Tools without what they take, if there are many."""
    if len(docs) <= _MAX_USAGES:
        return _listing(docs)
    lines = [f"{doc['toolAlias']}{_about(doc)}" for doc in docs]
    return "\n".join([*lines, f"{len(docs)} tools. What one takes: mcp {docs[0]['serverAlias']} TOOL --help\n"])


def _listing(docs: list[Any]) -> str:
    text = "".join(f"{_usage(doc)}\n" for doc in docs) or "It has no tools.\n"
    if len(text) <= _LIST_CHARS:
        return text
    return f"{text[:_LIST_CHARS].rpartition(chr(10))[0]}\n… {len(docs)} tools in all: use mcp search WORDS\n"


def _usage(doc: Any) -> str:
    if doc.get("kind"):  # a resource or a prompt
        return f"mcp {doc['serverAlias']} {doc['toolAlias']} {doc['target']}{_about(doc)}"
    options = [
        f"--{one['name']} {_short(one['type'])}" if one["required"] else f"[--{one['name']} {_short(one['type'])}]"
        for one in _params(doc)
    ]
    if doc.get("open"):
        options.append("[--NAME <VALUE> …]")
    return " ".join([f"mcp {doc['serverAlias']} {doc['toolAlias']}", *options]) + _about(doc)


def _params(doc: Any) -> list[dict[str, Any]]:
    """The parameters with the names that the tool gives them, and types and defaults as they are typed in a shell."""
    names = true_names(doc.get("inputSchema"))
    return [
        {
            **one,
            "name": names(one["name"]),
            **{key: _in_shell(str(one[key])) for key in ("type", "default") if key in one},
        }
        for one in doc.get("params", ())
    ]


_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_PYTHON = re.compile(rf"Literal\[((?:{_QUOTED}|[^]'\"])*)\]|{_QUOTED}|\b(?:None|True|False)\b")


def _in_shell(python: str) -> str:
    """`a|b` for `Literal['a', 'b']`, `null` for `None`."""
    from ast import literal_eval

    def typed(found: re.Match[str]) -> str:
        try:
            values = literal_eval(f"[{found[1]}]" if found[1] is not None else f"[{found[0]}]")
        except (ValueError, SyntaxError):
            return found[0]
        words = ["…" if one is ... else one if isinstance(one, str) else json.dumps(one) for one in values]
        return "|".join(words)

    return _PYTHON.sub(typed, python)


def _about(doc: Any) -> str:
    first = re.split(r"(?<=[.!?])\s|\n", str(doc["description"]).strip(), maxsplit=1)[0][:100]
    return f"  # {first}" if first else ""


def _short(kind: str) -> str:
    return f"<{kind if len(kind) <= 40 else kind[:39] + '…'}>"


def _description(doc: Any) -> str:
    # Indented: no line of a server's description reads like one of ours.
    about = [f"  {line}".rstrip() for line in str(doc["description"]).strip().splitlines()]
    lines = [_usage({**doc, "description": ""}), "", *about]
    for one in _params(doc):
        more = one.get("description", "")
        default = f", default {one['default']}" if one.get("default") else ""
        lines.append(
            f"  --{one['name']}  {one['type']}{default}{'' if one['required'] else ', optional'}  {more}".rstrip()
        )
    if doc.get("returns"):
        lines.append(f"Returns {doc['returns']}")
    return "\n".join(lines) + "\n"


def _json(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=_plain, allow_nan=False)
    except ValueError:  # programs read no NaN and no Infinity
        text = json.dumps(
            json.loads(json.dumps(value, default=_plain), parse_constant=lambda _: None), ensure_ascii=False
        )
    # Half a character cannot be written as it is.
    return re.sub(r"[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text) + "\n"


def _plain(value: object) -> object:
    if isinstance(value, (bytes, Media)):
        import binascii

        content = value if isinstance(value, bytes) else value.data
        return binascii.b2a_base64(content, newline=False).decode()
    return bridge.plain(value)
