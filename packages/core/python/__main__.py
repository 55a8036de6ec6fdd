"""Starts a kernel on file descriptors 0 and 1: `python3 -I -B /path/to/python [BELL]`. BELL is the descriptor of the bell, see port_pipe.py."""

import sys

from sandbridge_kernel.serve import serve_pipes

bell = int(sys.argv.pop()) if len(sys.argv) > 1 else None
serve_pipes(bell)
