// The output of `sandbridge` without arguments at a terminal, where no MCP client is connected.
import { VERSION } from '../util/package-root.ts'
import { print } from './terminal/print.ts'

const WORTH_TRYING = [
  'init             register it in your MCP clients, after showing how',
  'doctor           show what can isolate Python here, and run a cell',
  'servers          list your MCP servers',
  'index            ask them all for their tools',
  'search "QUERY"   find tools by what they do',
  'exec -c "1 + 1"  run Python once',
  'shell            run Python at a prompt',
]

/** @param commands of this build */
export function welcome(commands: readonly string[]): void {
  const lines = WORTH_TRYING.filter((line) => commands.includes(line.split(' ', 1)[0]!))
  print(`Sandbridge ${VERSION}: an MCP server with one tool, run_python, whose sandboxed code calls the tools of all your MCP servers.

An MCP client starts this command and talks to it over stdin and stdout. At a terminal, try:

${lines.map((line) => `  sandbridge ${line}`).join('\n')}

See \`sandbridge --help\` for every command. To serve MCP from this terminal all the same: \`sandbridge run\`.`)
}
