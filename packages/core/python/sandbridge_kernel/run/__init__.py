"""Runs cells, and keeps what outlives one."""
