"""The same as candidates.mjs for Python: reads a list of files from stdin, and prints a list of mutations of each."""

import ast
import json
import sys

SWAPPED = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}


def candidates(source: str) -> list[dict[str, object]]:
    lines = source.splitlines(keepends=True)
    found: list[dict[str, object]] = []

    def offset(line: int, column: int) -> int:
        before = "".join(lines[: line - 1]) + lines[line - 1].encode()[:column].decode()
        return len(before.encode("utf-16-le")) // 2

    def add(operator: str, node: ast.expr | ast.stmt, text: str) -> None:
        start = offset(node.lineno, node.col_offset)
        end = offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        found.append({"operator": operator, "start": start, "end": end, "text": text})

    def text_of(node: ast.expr) -> str:
        # In brackets, as the original can go over several lines without any of its own.
        return f"({ast.get_source_segment(source, node)})"

    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.If, ast.IfExp, ast.While)):
            add("negate a condition", node.test, f"(not {text_of(node.test)})")
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPPED:
            swapped = SWAPPED[type(node.ops[0])]
            add("swap a comparison", node, f"({text_of(node.left)} {swapped} {text_of(node.comparators[0])})")
        elif isinstance(node, ast.BoolOp):
            other = " or " if isinstance(node.op, ast.And) else " and "
            add("swap and, or", node, f"({other.join(text_of(value) for value in node.values)})")
        elif isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
            add("drop a statement", node, "pass")
        elif isinstance(node, ast.Assign) or (isinstance(node, ast.AugAssign)):
            add("drop a statement", node, "pass")
        elif isinstance(node, ast.Return) and node.value is not None:
            add("return nothing", node, "return None")
        elif isinstance(node, ast.Await):
            add("remove await", node, text_of(node.value))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            add("remove not", node, text_of(node.operand))
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            add("replace a constant", node, str(not node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            add("replace a constant", node, f"({node.value} + 1)")
    return found


def read(file: str) -> str:
    with open(file, encoding="utf-8", newline="") as opened:
        return opened.read()


json.dump([candidates(read(file)) for file in json.load(sys.stdin)], sys.stdout)
