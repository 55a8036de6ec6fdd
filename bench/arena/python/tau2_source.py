"""The tasks of τ² for an airline, a shop and a bank (PyPI `inspect-evals`, MIT): its own databases, tools and checkers.

A user's own tools are a server beside the agent's.
"""

import inspect
import json
from copy import deepcopy
from typing import Any
from uuid import uuid4

from inspect_ai.tool import ToolError
from inspect_evals.tau2.airline.AirlineAgentTools import AirlineAgentTools
from inspect_evals.tau2.banking.BankingAgentTools import BankingAgentTools
from inspect_evals.tau2.banking.BankingUserTools import BankingUserTools
from inspect_evals.tau2.banking.environment import apply_initial_state
from inspect_evals.tau2.banking.scorer import _build_expected_db
from inspect_evals.tau2.common.scorer import get_expected_db
from inspect_evals.tau2.data_model.tasks import Action, Task
from inspect_evals.tau2.retail.RetailAgentTools import RetailAgentTools
from inspect_evals.tau2.utils import TAU2_DATA_DIR

FOLDERS = {"airline": "airline", "retail": "retail", "banking": "banking_knowledge"}
KINDS: dict[str, Any] = {
    "airline": AirlineAgentTools,
    "retail": RetailAgentTools,
    "banking": BankingAgentTools,
    "customer": BankingUserTools,
}
#: They change no database, and its checkers skip them.
WITHOUT_EFFECT = ("calculate", "transfer_to_human_agents")
TASKS = {
    f"{domain} {task['id']}": Task.model_validate(task)
    for domain, folder in FOLDERS.items()
    for task in json.loads((TAU2_DATA_DIR / "domains" / folder / "tasks.json").read_text())
}
FRESH: dict[str, Any] = {}
EXPECTED: dict[str, str] = {}


def actions(task: Task) -> list[Action]:
    return (task.evaluation_criteria and task.evaluation_criteria.actions) or []


def name_of(action: Action) -> str:
    return action.name.removeprefix("banking_")


def tasks() -> list[dict[str, Any]]:
    found = []
    for task_id, task in TASKS.items():
        domain = task_id.split(" ")[0]
        servers = [domain, "customer"] if domain == "banking" else [domain]
        calls = [
            {
                "server": "customer" if action.requestor == "user" else domain,
                "tool": name_of(action),
                "args": action.arguments,
            }
            for action in actions(task)
        ]
        exchange = {"prompt": str(task.user_scenario), "calls": calls, "answer": "Done."}
        found.append({"id": task_id, "servers": servers, "exchanges": [exchange]})
    return found


class Opened:
    id: str
    tools: dict[str, Any]


def open_task(task_id: str) -> None:
    domain = task_id.split(" ")[0]
    if domain not in FRESH:
        loader = KINDS[domain](instance=uuid4().hex)
        loader.initialize()
        FRESH[domain] = loader.db
    database = FRESH[domain].model_copy(deep=True)
    Opened.id = task_id
    Opened.tools = {}
    for server in [domain, "customer"] if domain == "banking" else [domain]:
        made = KINDS[server](instance=uuid4().hex)
        made.db, made.initialized = database, True
        Opened.tools[server] = made
    if domain == "banking":
        # What it puts into the database is of the task itself.
        initial = deepcopy(TASKS[task_id].initial_state)
        apply_initial_state(Opened.tools["banking"], Opened.tools["customer"], initial)


def begin(exchange: int) -> None:
    pass


def tools(server: str) -> list[dict[str, Any]]:
    kind = KINDS[server]
    own = {name: method for name, method in vars(kind).items() if name[0] != "_" and inspect.isfunction(method)}
    del own["initialize"]
    listed = []
    for name in [*own, *WITHOUT_EFFECT]:
        about = inspect.signature(own[name]).parameters if name in own else {}
        required = [one for one, kind in about.items() if kind.default is kind.empty and one != "self"]
        schema = {"type": "object", "properties": {one: {} for one in about if one != "self"}, "required": required}
        if name not in own:
            schema["additionalProperties"] = True
        listed.append({"name": name, "description": name.replace("_", " "), "inputSchema": schema})
    return listed


def call(server: str, tool: str, args: dict[str, Any]) -> tuple[str, bool]:
    if tool in WITHOUT_EFFECT:
        return "Done.", False
    try:
        return str(getattr(Opened.tools[server], tool)(**args)), False
    except ToolError as error:
        return str(error), True


def state() -> Any:
    return next(iter(Opened.tools.values())).db.model_dump_json()


def check(answer: str) -> str | None:
    domain = Opened.id.split(" ")[0]
    task = TASKS[Opened.id]
    if Opened.id not in EXPECTED:
        gold = actions(task)
        initial = deepcopy(task.initial_state)
        made = _build_expected_db(gold, initial) if domain == "banking" else get_expected_db(domain, gold).db
        EXPECTED[Opened.id] = made.get_hash()
    is_solved = next(iter(Opened.tools.values())).db.get_hash() == EXPECTED[Opened.id]
    return None if is_solved else "the database does not match the expected state"
