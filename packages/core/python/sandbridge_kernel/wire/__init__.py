"""What crosses the channel to the bridge, and how."""
