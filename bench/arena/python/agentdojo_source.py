"""The user tasks of AgentDojo (PyPI `agentdojo`, MIT): its own environments, tools and checkers."""

import json
from typing import Any

from agentdojo.agent_pipeline.tool_execution import tool_result_to_str
from agentdojo.functions_runtime import FunctionCall, FunctionsRuntime
from agentdojo.task_suite.load_suites import get_suites

SUITES = get_suites("v1.2.2")


def group(tool: Any) -> str:
    return tool.run.__module__.rsplit(".", 1)[-1]


def fresh(suite: Any, task: Any) -> Any:
    return task.init_environment(suite.load_and_inject_default_environment({}))


def tasks() -> list[dict[str, Any]]:
    found = []
    for name, suite in SUITES.items():
        groups = {tool.name: group(tool) for tool in suite.tools}
        for task_id, task in suite.user_tasks.items():
            calls = [
                {"server": groups[call.function], "tool": call.function, "args": dict(call.args)}
                for call in task.ground_truth(fresh(suite, task))
            ]
            exchange = {"prompt": task.PROMPT, "calls": calls, "answer": task.GROUND_TRUTH_OUTPUT}
            servers = sorted(set(groups.values()))
            found.append({"id": f"{name} {task_id}", "servers": servers, "exchanges": [exchange]})
    return json.loads(json.dumps(found, default=str))


class Opened:
    suite: Any
    task: Any
    env: Any
    before: Any
    trace: list[FunctionCall]


def open_task(task_id: str) -> None:
    suite, task = task_id.split(" ")
    Opened.suite = SUITES[suite]
    Opened.task = Opened.suite.user_tasks[task]
    Opened.env = fresh(Opened.suite, Opened.task)
    Opened.before = Opened.env.model_copy(deep=True)
    Opened.trace = []


def begin(exchange: int) -> None:
    pass


def tools(server: str) -> list[dict[str, Any]]:
    return [
        {"name": tool.name, "description": tool.description, "inputSchema": tool.parameters.model_json_schema()}
        for tool in Opened.suite.tools
        if group(tool) == server
    ]


def call(server: str, tool: str, args: dict[str, Any]) -> tuple[str, bool]:
    Opened.trace.append(FunctionCall(function=tool, args=args))
    result, error = FunctionsRuntime(Opened.suite.tools).run_function(Opened.env, tool, args)
    return (error, True) if error else (tool_result_to_str(result), False)


def state() -> str:
    return Opened.env.model_dump_json()


def check(answer: str) -> str | None:
    output = [{"type": "text", "content": answer}]
    task, env = Opened.task, Opened.env
    is_solved = Opened.suite._check_user_task_utility(task, output, Opened.before, env, Opened.trace)
    return None if is_solved else "AgentDojo's checker does not find the task solved"
