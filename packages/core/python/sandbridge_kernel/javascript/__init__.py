"""JavaScript cells, run by one program per session. Imported by the first such cell."""
