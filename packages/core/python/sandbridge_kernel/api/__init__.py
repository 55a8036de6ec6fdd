"""What a cell sees of the bridge: the proxies of servers, the functions of `mcp.runtime`, and their errors."""
