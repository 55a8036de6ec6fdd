"""What a cell shows: output, values, figures."""
