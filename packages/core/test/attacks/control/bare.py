"""The positive control: runs a cell with nothing in its way. Reads one JSON object {code} a line, answers with {output} a line."""

import ast
import asyncio
import contextlib
import io
import json
import sys
import traceback
import types

answers = sys.stdout
for line in sys.stdin:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            code = compile(json.loads(line)["code"], "cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            result = eval(code, {"__name__": "__main__"})
            if isinstance(result, types.CoroutineType):
                asyncio.run(result)
        except BaseException:
            traceback.print_exc()
    print(json.dumps({"output": output.getvalue()}), file=answers, flush=True)
