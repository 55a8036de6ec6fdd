"""Serves the tasks of a published benchmark: each of its services as an MCP server over HTTP on loopback, with one shared
state, and its own checker behind /control.

    python host.py agentdojo|bfcl

The first line of stdout is the port. It ends when stdin does.
"""

import importlib
import json
import os
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SOURCE = importlib.import_module(f"{sys.argv[1]}_source")
#: Calls that come at the same time are made one after the other: the states are plain Python objects.
LOCK = threading.Lock()
#: The streams on which clients wait for what servers tell by themselves.
STREAMS: set["queue.SimpleQueue[bytes]"] = set()
CHANGED = b'data: {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}\n\n'


#: The calls of the opened task: tool, arguments, whether it was carried out, and, where it was looked at, whether it
#: changed the state.
MADE: list[list[Any]] = []


#: Of a server that no task knows.
OTHER_TOOLS = [{"name": "begin", "inputSchema": {"type": "object"}}]


class Losses:
    looks = False
    #: Which call, counted from 1, is made and never answered.
    silent = 0
    over = threading.Event()


def tool_call(server: str, params: dict[str, Any]) -> dict[str, Any]:
    name, args = params["name"], params.get("arguments") or {}
    if server == "another":
        return {"content": []}
    before = SOURCE.state() if Losses.looks else None
    text, is_error = SOURCE.call(server, name, args)
    MADE.append([f"{server}.{name}", args, not is_error, Losses.looks and SOURCE.state() != before])
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def answer(server: str, message: dict[str, Any]) -> dict[str, Any]:
    method, params = message["method"], message.get("params") or {}
    reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        info = {"name": server, "version": "1"}
        version = params["protocolVersion"]
        capabilities = {"tools": {"listChanged": True}}
        reply["result"] = {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}
    elif method == "tools/list":
        reply["result"] = {"tools": OTHER_TOOLS if server == "another" else SOURCE.tools(server)}
    elif method == "tools/call":
        reply["result"] = tool_call(server, params)
    elif method == "ping":
        reply["result"] = {}
    else:
        reply["error"] = {"code": -32601, "message": f"Method not found: {method}"}
    return reply


def control(message: dict[str, Any]) -> Any:
    """`tasks`, or for the task that was opened last: `open`, `begin` and `check`."""
    operations = {"tasks": SOURCE.tasks, "open": open_task, "begin": begin, "check": SOURCE.check, "lose": lose}
    return operations[message["do"]](*message.get("args", []))


def open_task(task: str) -> None:
    Losses.looks = False
    MADE.clear()
    SOURCE.open_task(task)
    for stream in list(STREAMS):
        stream.put(CHANGED)


def lose(silent: int, looks: bool = False) -> None:
    Losses.silent, Losses.looks = silent, looks
    Losses.over.set()
    Losses.over = threading.Event()


def begin(exchange: int) -> None:
    if SOURCE.begin(exchange):
        for stream in list(STREAMS):
            stream.put(CHANGED)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "do" not in message and "id" not in message:
            return self.reply(202, b"")
        if message.get("do") == "made":
            return self.reply(200, json.dumps(MADE, default=str).encode())
        with LOCK:
            result = control(message) if self.path == "/control" else answer(self.path.rsplit("/", 1)[-1], message)
            is_lost = message.get("method") == "tools/call" and len(MADE) == Losses.silent > 0
            over = Losses.over
        if is_lost:
            self.close_connection = True
            over.wait()
            return None
        self.reply(200, json.dumps(result, default=str).encode())

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        stream: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        STREAMS.add(stream)
        try:
            while True:
                self.wfile.write(stream.get())
        except OSError:
            STREAMS.discard(stream)

    def do_DELETE(self) -> None:
        self.reply(405, b"")

    def reply(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
os._exit(0)
