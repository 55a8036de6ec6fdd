"""Starts a kernel on file descriptors 0 and 1: `python3 -I -B /path/to/python`."""

from sandbridge_kernel.serve import serve_pipes

serve_pipes()
