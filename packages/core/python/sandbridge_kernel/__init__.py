"""The Sandbridge kernel: runs cells, one at a time, and calls the bridge. Standard library only; CPython >= 3.10 and
Pyodide."""
