"""Bash cells, and the command `mcp` in them. Imported by the first such cell."""
