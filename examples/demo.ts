// `npm run demo`: a real MCP client talks to the built bridge over stdio, with three published MCP servers behind it,
// and runs a few cells that a person can follow. Exits with 1 when a cell does not do what its title says.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

const root = fileURLToPath(new URL('..', import.meta.url))
const published = (name: string) => path.join(root, `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`)
const bold = (text: string) => (process.stdout.isTTY ? `\u001b[1m${text}\u001b[0m` : text)
const indent = (text: string) => text.replace(/^/gm, '    ')
const print = (text = '') => void process.stdout.write(`${text}\n`)

interface Cell {
  title: string
  code: string
  timeout?: number
  expect: RegExp
}

const CELLS = (folder: string): Cell[] => [
  {
    title: 'A variable. The first cell also prepares the embedded sandbox, once per installation: some seconds',
    code: `FOLDER = ${JSON.stringify(folder)}`,
    expect: /no output/,
  },
  {
    title: 'Which servers are there? (none of them has been started)',
    code: 'for server in runtime.discovered_servers(detailed=True):\n    print(server["name"], "-", server["description"])',
    expect: /filesystem - .*\nmemory - /,
  },
  {
    title: 'Find a tool by what it does; each hit can be pasted and called',
    code: 'print(await runtime.search_tool_docs("read a text file", limit=3))',
    expect: /mcp_filesystem\.read_text_file\(/,
  },
  {
    title: 'Call two servers at once, and keep only what matters',
    code: `import asyncio, json

report, graph = await asyncio.gather(
    mcp_filesystem.read_text_file(path=FOLDER + "/sales.json"),
    mcp_memory.create_entities(entities=[{"name": "Q3", "entityType": "quarter", "observations": ["closed"]}]),
)
sales = json.loads(report)
total = sum(row["amount"] for row in sales)
print(f"{len(sales)} rows, total {total}")`,
    expect: /500 rows, total \d+/,
  },
  {
    title: 'Variables are still there in the next cell',
    code: 'best = max(sales, key=lambda row: row["amount"])\nbest',
    expect: /'region'/,
  },
  {
    title: "A tool's error is a Python exception",
    code: 'try:\n    await mcp_filesystem.read_text_file(path="/etc/passwd")\nexcept runtime.MCPError as error:\n    print("refused:", str(error)[:60], "…")',
    expect: /refused: Access denied/,
  },
  {
    title: 'A loop that never ends hits its time limit …',
    code: 'while True:\n    pass',
    timeout: 1,
    expect: /Timed out after 1 s/,
  },
  {
    title: '… and the session goes on',
    code: 'f"still here: {total}"',
    expect: /still here: \d+/,
  },
]

async function main(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sandbridge-demo-'))
  const client = new Client({ name: 'demo', version: '1' })
  try {
    const servers = writeServers(folder)
    const sales = Array.from({ length: 500 }, (_, row) => ({ region: `R${row % 7}`, amount: (row * 37) % 1009 }))
    writeFileSync(path.join(folder, 'sales.json'), JSON.stringify(sales))

    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      USERPROFILE: folder,
      MCP_BRIDGE_RUNTIME: 'pyodide',
      // Its folder goes with it.
      MCP_BRIDGE_RESIDENT: 'off',
      MCP_BRIDGE_LOG_LEVEL: 'warning',
      MCP_BRIDGE_CACHE_DIR: path.join(root, '.cache/demo'),
    }
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [path.join(root, 'dist/cli.js')], env, cwd: folder }),
    )
    const { tools } = await client.listTools()
    print(bold(`The model sees ${tools.length} tool: ${tools[0]?.name} (${tokensOf(tools)} tokens)\n`))
    for (const [index, cell] of CELLS(folder).entries()) await show(client, index + 1, cell)
    await compare(servers, tokensOf(tools))
  } finally {
    await client.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Server {
  command: string
  args: string[]
  env?: Record<string, string>
  description: string
}

/** Writes the three servers to the user's usual folder: ~/MCPs. */
function writeServers(folder: string): Record<string, Server> {
  mkdirSync(path.join(folder, 'MCPs'))
  const node = process.execPath
  const mcpServers: Record<string, Server> = {
    filesystem: { command: node, args: [published('filesystem'), folder], description: 'Files of the demo folder' },
    memory: {
      command: node,
      args: [published('memory')],
      env: { MEMORY_FILE_PATH: path.join(folder, 'memory.jsonl') },
      description: 'A knowledge graph that lasts',
    },
    everything: { command: node, args: [published('everything'), 'stdio'], description: 'One of every kind of tool' },
  }
  writeFileSync(path.join(folder, 'MCPs/servers.json'), JSON.stringify({ mcpServers }))
  return mcpServers
}

async function run(client: Client, code: string, timeout = 30): Promise<string> {
  const result = await client.callTool({ name: 'run_python', arguments: { code, timeout } }, { timeout: 120_000 })
  return result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}

async function show(client: Client, number: number, { title, code, timeout, expect }: Cell): Promise<void> {
  print(bold(`${number}. ${title}`))
  print(indent(code).replace(/^ {3}/gm, '  |'))
  const started = performance.now()
  const text = await run(client, code, timeout)
  print(indent(text))
  print(`    (${Math.round(performance.now() - started)} ms)\n`)
  if (!expect.test(text)) throw new Error(`Cell ${number} did not answer as expected: ${expect}`)
}

type ListedTool = Awaited<ReturnType<Client['listTools']>>['tools'][number]

/** The tokens of what a client sends to its model for the tools of one server. */
function tokensOf(tools: readonly ListedTool[]): number {
  return countTokens(
    JSON.stringify(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))),
  )
}

/** Compares the cost with a client that lists the same tools itself. */
async function compare(servers: Record<string, Server>, ownTokens: number): Promise<void> {
  let [count, direct] = [0, 0]
  for (const { command, args, env = {} } of Object.values(servers)) {
    const client = new Client({ name: 'demo', version: '1' })
    await client.connect(new StdioClientTransport({ command, args, env, stderr: 'ignore' }))
    const { tools } = await client.listTools()
    count += tools.length
    direct += tokensOf(tools)
    await client.close()
  }
  const which = `the ${count} tools of these three servers`
  print(bold(`Listed directly, ${which} cost ${direct} tokens; run_python costs ${ownTokens}.`))
  print('And the 500 rows of cell 4 never went through the model.')
}

await main()
