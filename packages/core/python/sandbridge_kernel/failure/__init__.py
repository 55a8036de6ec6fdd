"""What a cell is told of an error."""
