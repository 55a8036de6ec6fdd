"""Compiles the kernel's sources (a JSON object, path -> text, on stdin). Prints the bytecode for sandbox_kernel.py, in base64."""

import base64
import json
import marshal
import sys
from importlib._bootstrap_external import MAGIC_NUMBER

files = json.load(sys.stdin)
# Each file separately, so that a kernel loads only the modules it imports.
code = {
    path: marshal.dumps(compile(text, "/sandbridge/" + path, "exec", dont_inherit=True)) for path, text in files.items()
}
print(base64.b64encode(MAGIC_NUMBER + marshal.dumps(code)).decode())
