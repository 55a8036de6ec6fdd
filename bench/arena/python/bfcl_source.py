"""The multi-turn tasks of BFCL (PyPI `bfcl-eval`, Apache-2.0): its eight stateful services and its state checker.

In two of its four categories something is missing at first: a tool, which its server offers later, or an argument, which
the user says when asked. The solution has no calls then.
"""

import ast
import copy
import importlib
import inspect
import json
import uuid
from importlib.resources import files
from typing import Any

from bfcl_eval.constants.default_prompts import DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC
from bfcl_eval.constants.executable_backend_config import CLASS_FILE_PATH_MAPPING, MULTI_TURN_FUNC_DOC_FILE_MAPPING
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import multi_turn_checker
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils import execute_multi_turn_func_call

CATEGORIES = ("base", "long_context", "miss_func", "miss_param")
DATA = files("bfcl_eval") / "data"
#: Its types as those of JSON Schema; `any` has none.
TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": None}


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


ENTRIES = {entry["id"]: entry for name in CATEGORIES for entry in lines(f"BFCL_v4_multi_turn_{name}.json")}
TRUTHS = {
    entry["id"]: entry["ground_truth"]
    for name in CATEGORIES
    for entry in lines(f"possible_answer/BFCL_v4_multi_turn_{name}.json")
}
#: Each service, named after the file of its documentation.
SERVICES = {
    name: doc.removesuffix(".json")
    for name, doc in MULTI_TURN_FUNC_DOC_FILE_MAPPING.items()
    if not name.startswith(("WebSearch", "Memory"))
}
CLASSES = {name: getattr(importlib.import_module(CLASS_FILE_PATH_MAPPING[name]), name) for name in SERVICES}
DOCS = {server: lines(f"multi_turn_func_doc/{server}.json") for server in SERVICES.values()}


def schema(value: Any) -> Any:
    if isinstance(value, list):
        return [schema(one) for one in value]
    if not isinstance(value, dict):
        return value
    plain = {key: schema(one) for key, one in value.items()}
    if isinstance(value.get("type"), str):
        plain["type"] = TYPES.get(value["type"], value["type"])
        if plain["type"] is None:
            del plain["type"]
    return plain


def gold(entry: dict[str, Any], source: str) -> dict[str, Any]:
    """A call that is written in Python, with names for all of its arguments."""
    node = ast.parse(source, mode="eval").body
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    tool = node.func.id
    owner = next(name for name in entry["involved_classes"] if hasattr(CLASSES[name], tool))
    values = [ast.literal_eval(value) for value in node.args]
    named = {str(word.arg): ast.literal_eval(word.value) for word in node.keywords}
    bound = inspect.signature(getattr(CLASSES[owner], tool)).bind(None, *values, **named)
    args = {name: value for name, value in bound.arguments.items() if name != "self"}
    return {"server": SERVICES[owner], "tool": tool, "args": args}


def tasks() -> list[dict[str, Any]]:
    found = []
    for entry_id, entry in ENTRIES.items():
        exchanges = [
            {
                # Where a tool comes, the package has no message.
                "prompt": "\n".join(message["content"] for message in messages)
                or DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC,
                "calls": [gold(entry, call) for call in calls],
                "answer": "Done." if calls else "Something is missing for that.",
            }
            for messages, calls in zip(entry["question"], TRUTHS[entry_id], strict=True)
        ]
        servers = [SERVICES[name] for name in entry["involved_classes"]]
        found.append({"id": entry_id, "servers": servers, "exchanges": exchanges})
    return json.loads(json.dumps(found))


class Opened:
    entry: dict[str, Any]
    #: Instances are kept by this name, so that each run has its own.
    run: str
    #: The calls of each message of the user, in its own notation.
    turns: list[list[str]]
    services: dict[str, Any]


def open_task(task_id: str) -> None:
    Opened.entry = ENTRIES[task_id]
    Opened.run = f"run_{uuid.uuid4().hex}"
    Opened.turns = []
    execute([])


def begin(exchange: int) -> bool:
    """Whether the servers offer other tools from now on."""
    Opened.turns.append([])
    return str(exchange) in Opened.entry.get("missed_function", {})


def tools(server: str) -> list[dict[str, Any]]:
    later = Opened.entry.get("missed_function", {}).items()
    missing = [name for exchange, names in later if int(exchange) >= len(Opened.turns) for name in names]
    hidden = Opened.entry.get("excluded_function", []) + missing
    return [
        {"name": doc["name"], "description": doc["description"], "inputSchema": schema(doc["parameters"])}
        for doc in DOCS[server]
        if doc["name"] not in hidden
    ]


def execute(sources: list[str]) -> list[str]:
    entry = Opened.entry
    results, Opened.services = execute_multi_turn_func_call(
        sources,
        entry["initial_config"],
        entry["involved_classes"],
        Opened.run,
        entry["id"],
        long_context="long_context" in entry["id"],
    )
    return results


def call(server: str, tool: str, args: dict[str, Any]) -> tuple[str, bool]:
    source = f"{tool}({', '.join(f'{name}={value!r}' for name, value in args.items())})"
    Opened.turns[-1].append(source)
    [result] = execute([source])
    return result, result.startswith("Error during execution")


def state() -> Any:
    """Its own checker compares these."""
    public = ({key: value for key, value in vars(one).items() if key[0] != "_"} for one in Opened.services.values())
    return copy.deepcopy(list(public))


def check(answer: str) -> str | None:
    entry = Opened.entry
    made = [[[call] for call in turn] for turn in Opened.turns]
    category = entry["id"].rsplit("_", 1)[0]
    verdict = multi_turn_checker(made, TRUTHS[entry["id"]], entry, category, f"{Opened.run}_check")
    return None if verdict["valid"] else str(verdict["error_message"])
