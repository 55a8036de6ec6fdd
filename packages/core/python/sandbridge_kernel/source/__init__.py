"""What is read in the source of a cell before it runs, or to save it."""
