"""What tools return, as Python values."""
