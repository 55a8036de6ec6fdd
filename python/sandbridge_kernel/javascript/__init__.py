"""JavaScript cells, run by one Node for the session. Imported by the first such cell."""
