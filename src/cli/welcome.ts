// The output of `sandbridge` without arguments at a terminal, where no MCP client is connected.
import { VERSION } from '../util/version.ts'
import { print } from './terminal/print.ts'

export function welcome(): void {
  print(`Sandbridge ${VERSION}: an MCP server with one tool, run_python, whose sandboxed code calls the tools of all your MCP servers.

An MCP client starts this command and talks to it over stdin and stdout. At a terminal, try:

  sandbridge init             register it in your MCP clients, after showing how
  sandbridge doctor           show what can isolate Python here, and run a cell
  sandbridge servers          list your MCP servers
  sandbridge index            ask them all for their tools
  sandbridge search "QUERY"   find tools by what they do
  sandbridge exec -c "1 + 1"  run Python once
  sandbridge shell            run Python at a prompt

See \`sandbridge --help\` for every command. To serve MCP from this terminal all the same: \`sandbridge run\`.`)
}
