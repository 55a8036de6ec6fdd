// Part of `npm run docs:pictures`: runs the built sandbridge in a terminal, with published MCP servers, and draws the
// terminal's output as docs/demo.svg. Only the commands in the picture are written by hand.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { drawSession } from './terminal-svg.mjs'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const OUTPUT = path.join(ROOT, 'docs/demo.svg')

const CELL = `import csv, io

report = await mcp_files.read_text_file(path="sales.csv")
totals = {}
for row in csv.DictReader(io.StringIO(report)):
    totals[row["region"]] = totals.get(row["region"], 0) + float(row["amount"])

best = max(totals, key=totals.get)
note = {"name": best, "entityType": "region", "observations": [f"sold {totals[best]:,.0f}"]}
await mcp_memory.create_entities(entities=[note])
print(f"read {len(report):,} characters; best region: {best}")
`

/** The typed command, and its arguments. */
const COMMANDS = [
  ['sandbridge index', ['index']],
  ['sandbridge search "read a text file" --limit 2', ['search', 'read a text file', '--limit', '2']],
  ['cat best.py'],
  ['sandbridge exec best.py', ['exec', 'best.py']],
]

function main() {
  const home = mkdtempSync(path.join(tmpdir(), 'sandbridge-demo-'))
  try {
    writeFiles(home)
    // Prepares the embedded sandbox, once per installation.
    inTerminal(home, ['exec', '-c', '1 + 1'])
    const session = COMMANDS.map(([typed, args]) => ({ typed, shown: args ? inTerminal(home, args) : CELL }))
    if (!session.at(-1).shown.includes('best region: R')) throw new Error(`The cell failed: ${session.at(-1).shown}`)
    writeFileSync(OUTPUT, drawSession(session))
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

function writeFiles(home) {
  const server = (name, ...args) => ({
    command: process.execPath,
    args: [path.join(ROOT, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`), ...args],
    cwd: path.join(home, 'reports'),
  })
  mkdirSync(path.join(home, 'reports'))
  mkdirSync(path.join(home, 'MCPs'))
  const mcpServers = {
    files: server('filesystem', path.join(home, 'reports')),
    memory: { ...server('memory'), env: { MEMORY_FILE_PATH: path.join(home, 'memory.jsonl') } },
    everything: server('everything', 'stdio'),
  }
  writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers }))
  const rows = Array.from({ length: 500 }, (_, row) => `R${row % 7},${(row * 37) % 1009}`)
  writeFileSync(path.join(home, 'reports/sales.csv'), ['region,amount', ...rows, ''].join('\n'))
  writeFileSync(path.join(home, 'best.py'), CELL)
}

/** A terminal's output while the command runs, including escapes. */
function inTerminal(home, args) {
  const terminal = path.join(ROOT, 'packages/core/test/fixtures/in-terminal.py')
  const { status, stdout, stderr } = spawnSync(
    'python3',
    [terminal, '[]', process.execPath, path.join(ROOT, 'dist/cli.js'), ...args],
    {
      cwd: home,
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        HOME: home,
        TERM: 'xterm-256color',
        IN_TERMINAL_LIMIT: '300',
        MCP_BRIDGE_RUNTIME: 'pyodide',
        MCP_BRIDGE_SIGN_IN_KEY: 'none',
        MCP_BRIDGE_CACHE_DIR: path.join(ROOT, '.cache/demo'),
      },
    },
  )
  if (status !== 0) throw new Error(`sandbridge ${args.join(' ')} exited with ${status}: ${stdout}${stderr}`)
  return stdout
}

main()
