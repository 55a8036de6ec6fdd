// This file verifies how Python finds and calls upstream tools: every name of the system this project re-creates, with
// published servers.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { fixtureServer, published } from '../support/bridges/bridge-process.ts'
import { sharedBridge } from '../support/bridges/shared-bridge.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'
import { newFolder } from '../support/machine/new-folder.ts'

const folder = newFolder()

const shared = sharedBridge({
  servers: {
    'my-files': { ...published.filesystem(folder), description: 'Files of the test' },
    memory: published.memory(path.join(folder, 'memory.jsonl')),
    everything: published.everything(),
  },
})
beforeAll(() => {
  writeFileSync(path.join(folder, 'note.txt'), 'hello from a file')
  writeFileSync(path.join(folder, 'data.json'), '{"rows": [1, 2, 3]}')
})

const note = JSON.stringify(path.join(folder, 'note.txt'))

it('a server is reached as mcp_<alias>', async () => {
  expect(await shared().run(`await mcp_my_files.read_text_file(path=${note})`)).toBe("'hello from a file'")
})

it.each([
  [
    'send an email',
    /^(?:Few words matched|No tool fits)\. Search again with other wordings .*\(\d+ tools searched\):\n/,
  ],
  ['book a flight', /^No tool fits\. Search again with other wordings .*\(\d+ tools searched\):\n/],
  // Control.
  ['read a file', /^await mcp_my_files\.read_/],
  ['add two numbers', /^await mcp_everything\.get_sum\(/],
])('a search for what none of the servers does says so: %s', async (wording, beginning) => {
  expect(await shared().run(`print(await runtime.search_tool_docs(${JSON.stringify(wording)}))`)).toMatch(beginning)
})

it('a server is reached as mcp_servers[name]', async () => {
  expect(await shared().run(`await mcp_servers["my-files"].read_text_file(path=${note})`)).toBe("'hello from a file'")
})

it('a server is reached by from mcp.servers.<alias> import *', async () => {
  const code = `from mcp.servers.my_files import *\nawait read_text_file(path=${note})`
  expect(await shared().run(code)).toBe("'hello from a file'")
})

it('a server is reached by runtime.call_tool, with the original names', async () => {
  const code = `from mcp import runtime\nawait runtime.call_tool("my-files", "read_text_file", {"path": ${note}})`
  expect(await shared().run(code)).toBe("'hello from a file'")
})

it('discovered_servers(detailed=True) includes descriptions', async () => {
  expect(
    await shared().run(
      '[s["description"] for s in runtime.discovered_servers(detailed=True) if s["name"] == "my-files"]',
    ),
  ).toBe("['Files of the test']")
  expect(await shared().run('runtime.discovered_servers(detailed=True)')).toMatch(
    /^mcp_my_files \(my-files\), [a-z-]+: Files of the test\nmcp_memory, [^\n]+\nmcp_everything, [^\n]+$/,
  )
})

it('query_tool_docs prints as lines to paste, and is a list of mappings', async () => {
  expect(await shared().run('print(await runtime.query_tool_docs("everything", "echo"))')).toMatch(
    /mcp_everything\.echo\(.*message: str/,
  )
  const keys = '["server", "serverAlias", "tool", "toolAlias", "description"]'
  expect(
    await shared().run(`doc = runtime.query_tool_docs_sync("everything", "echo")[0]\n[doc[key] for key in ${keys}]`),
  ).toMatch(/\['everything', 'everything', 'echo', 'echo', 'Echoes back/)
  expect(
    await shared().run('runtime.query_tool_docs_sync("everything", "echo", detail="full")[0]["inputSchema"]["type"]'),
  ).toBe("'object'")
})

it('describe_server and list_loaded_server_metadata describe servers', async () => {
  const code = 'd = runtime.describe_server("everything")\nsorted(d["tools"][0]) , d["name"]'
  expect(await shared().run(code)).toBe("(['alias', 'description', 'input_schema', 'name'], 'everything')")
  expect(await shared().run('[m["name"] for m in runtime.list_loaded_server_metadata()]')).toContain('everything')
})

it('capability_summary returns the resource, for the servers that the cell may reach', async () => {
  const text = await shared().run('print(runtime.capability_summary())')
  expect(text).toContain(`- mcp_my_files (my-files): Files of the test; serves ${folder}`)
  await shared().run('await runtime.list_tools("everything")')
  expect(await shared().run('print(runtime.capability_summary())')).toMatch(/- mcp_everything: 13 tools: /)
})

it('a server starts when a cell names it or searches, and not before', async () => {
  const fresh = await startBridge({
    servers: {
      good: fixtureServer('raw.mjs'),
      ruled: fixtureServer('ruled.mjs', path.join(folder, 'journal')),
      docs: fixtureServer('resources.mjs'),
    },
  })
  const names = `def names():
    return [s.name for s in runtime.discovered_servers(detailed=True) if s.state == "running"]`
  expect(
    await fresh.run(`${names}\nsorted(runtime.discovered_servers()), names()`),
    'discovered_servers names all servers without starting any',
  ).toBe("(['docs', 'good', 'ruled'], [])")
  const code = `import asyncio
async def later():
    await mcp_good.echo(text="x")
while not (running := names()):
    await asyncio.sleep(0.05)
running`
  expect(await fresh.run(code), 'a cell starts the servers that it names before it calls them, and no others').toBe(
    "['good']",
  )
  // A search says which servers have not answered yet.
  await expect
    .poll(() => fresh.run('print(await runtime.search_tool_docs("create an issue", limit=2))'), {
      message: 'a search covers servers that were never started',
    })
    .toMatch(/mcp_ruled\.create_issue\(/)
  expect(await fresh.run('len(runtime.search_tool_docs_sync("entities in a graph", limit=2))')).toBe('2')
})

it('full docs of several tools are complete, with an example', async () => {
  const text = await shared().run(
    'print(await runtime.query_tool_docs("my-files", tools=["edit_file", "move_file"], detail="full"))',
  )
  expect(text).toMatch(/edits: list\[\{oldText: str, newText: str\}\]/)
  expect(text).toMatch(/\n    dryRun: bool = False  # Preview changes/)
  expect(text).toMatch(
    /Example: await mcp_my_files\.edit_file\(path='path', edits=\[\{'oldText': 'oldText', 'newText': 'newText'\}\]\)/,
  )
  // From the end of its description, which the tool's line leaves out.
  expect(text).toContain('Both source and destination must be within allowed directories')
  expect(text).not.toContain('read_text_file(')
})

it('a pasted text of any length is searched, and not refused', async () => {
  const search = 'await runtime.search_tool_docs("Please add two numbers. " * 5000, limit=1)'
  expect(await shared().run(`print(${search})`)).toContain('mcp_everything.get_sum(')
})

it('two needs in one search are both represented, in one list or each by itself', async () => {
  const both = await shared().run('print(await runtime.search_tool_docs("add two numbers", "move a file", limit=2))')
  expect(both.split('\n')).toEqual([
    expect.stringContaining('mcp_everything.get_sum('),
    expect.stringContaining('mcp_my_files.move_file('),
  ])
  const text = await shared().run(
    'found = await runtime.search_tool_docs("add two numbers", "move a file", limit=2, separate=True)\nprint(found)\nlist(found)',
  )
  expect(text).toMatch(
    /^add two numbers:\n[^]*mcp_everything\.get_sum\([^]*\n\nmove a file:\n[^]*mcp_my_files\.move_file\(/,
  )
  expect(text).toContain("['add two numbers', 'move a file']")
})

it('a server that cannot start, or refuses to list its tools, is reported once, and unavailable in the summary', async () => {
  const script = 'console.error("Traceback:\\n  line 1\\nModuleNotFoundError: no module mcp_thing"); process.exit(1)'
  const refusing = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    if (id === undefined) return
    const serverInfo = { name: 'crm', version: '1' }
    const { protocolVersion } = params ?? {}
    const answer = method === 'initialize'
      ? { result: { protocolVersion, capabilities: { tools: {} }, serverInfo } }
      : method === 'tools/list' ? { error: { code: -32603, message: 'database is down' } } : { result: {} }
    console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
  })`
  const fresh = await startBridge({
    servers: {
      good: fixtureServer('raw.mjs', 'good'),
      broken: { command: process.execPath, args: ['-e', script] },
      crm: { command: process.execPath, args: ['-e', refusing] },
    },
  })
  const search = (more = '') => fresh.run(`print(await runtime.search_tool_docs("echo a message", limit=1${more}))`)
  const first = await search()
  expect(first).toMatch(
    /broken \([\s\S]*exited with code 1[\s\S]*Last output: ModuleNotFoundError: no module mcp_thing/,
  )
  expect(first).toContain('database is down')
  expect(await search()).not.toMatch(/broken|database is down/)
  for (let round = 0; round < 2; round += 1)
    expect(await search(', servers=["crm"]')).toMatch(/Unavailable and not searched: crm \([^]*database is down/)
  const summary = await fresh.run('print(runtime.capability_summary())')
  for (const name of ['broken', 'crm']) expect(summary).toMatch(new RegExp(`\\n- mcp_${name}: unavailable$`, 'm'))
})

it('an import of an unknown tool is refused before the cell runs, with similar names, when the tools are known', async () => {
  await shared().run('await runtime.list_tools("everything")')
  const { text, isError } = await shared().call({
    code: 'print("ran")\nfrom mcp.servers.everything import echo, get_summ',
  })
  expect(isError).toBe(true)
  expect(text).toMatch(/line 2[\s\S]*ToolNotFound: [\s\S]*get_summ[\s\S]*Did you mean[\s\S]*get_sum/)
  expect(text).not.toMatch(/^ran/m)
  const isImportError =
    'try:\n    exec("from mcp.servers.everything import echo")\nexcept ImportError:\n    print("no")\nelse:\n    print("yes")'
  expect(await shared().run(isImportError)).toBe('yes')
})

it('an import of an unknown tool is left to run when the tools are not known', async () => {
  const silent = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] }
  const fresh = await startBridge({ servers: { silent } })
  expect(await fresh.run('from mcp.servers.silent import get_summ\nget_summ.__name__')).toBe("'get_summ'")
})

it.each([
  ['runtime.discovered_servers()', /remove `await`/],
  ['runtime.describe_server("everything")', /remove `await`/],
])('the error of await %s has a hint', async (call, expected) => {
  const { text, isError } = await shared().call({ code: `await ${call}` })
  expect(isError).toBe(true)
  expect(text).toMatch(expected)
})

it('servers=[…] limits a run to those servers, by every way of calling', async () => {
  const code = (call: string) => `try:\n    ${call}\nexcept Exception as error:\n    print(error)`
  for (const call of [
    'await runtime.call_tool("memory", "read_graph", {})',
    'mcp_servers["memory"]',
    'await runtime.query_tool_docs("memory")',
    'runtime.describe_server("memory")',
  ]) {
    expect(await shared().run(code(call), { servers: ['everything'] })).toContain("Server 'memory' is not available")
  }
  expect(
    await shared().run('"mcp_memory" in globals(), runtime.discovered_servers()', { servers: ['everything'] }),
  ).toMatch(/^\(False, [[(]'everything'/)
  expect(
    await shared().run('(await runtime.search_tool_docs("graph"))[0]["server"]', { servers: ['everything'] }),
  ).toBe("'everything'")
  expect(await shared().run('"mcp_memory" in globals()')).toBe('True')
})

it('servers=[…] accepts aliases', async () => {
  expect(await shared().run('runtime.discovered_servers()', { servers: ['my_files'] })).toMatch(/my-files/)
})

// whole: a bridge for each test
describe('MCP_BRIDGE_LOAD=explicit', { tags: ['whole'] }, () => {
  const env = { MCP_BRIDGE_LOAD: 'explicit' }
  const code = (call: string) => `try:\n    print(${call})\nexcept Exception as error:\n    print(error)`

  it('MCP_BRIDGE_LOAD=explicit lists the servers that a run can name, and starts none', async () => {
    const strict = await startBridge({
      servers: {
        everything: published.everything(),
        'my-files': { ...published.filesystem(folder), description: 'Files of the test' },
      },
      env,
    })
    expect(await strict.run('runtime.discovered_servers()')).toBe("['everything', 'my-files']")
    expect(await strict.run('[dict(s) for s in runtime.discovered_servers(detailed=True)]')).toBe(
      "[{'name': 'everything', 'alias': 'everything', 'description': '', 'state': 'not-loaded'}, " +
        "{'name': 'my-files', 'alias': 'my_files', 'description': 'Files of the test', 'state': 'not-loaded'}]",
    )
    const summary = await strict.run('print(runtime.capability_summary())')
    expect(summary).toContain(
      'Servers available by name, as in servers=["everything"] (2):\n- mcp_everything\n- mcp_my_files (my-files): Files of the test',
    )
    const { contents } = await strict.client.readResource({
      uri: 'resource://mcp-server-code-execution-mode/capabilities',
    })
    expect(contents[0]).toMatchObject({ text: summary })
    const searched = await strict.run('print(await runtime.search_tool_docs("echo a message"))')
    expect(searched).toMatch(/^\(no tools\)\n[\s\S]*everything, my-files[\s\S]*runtime\.discovered_servers\(\)/)
    expect(await strict.run('LOADED_MCP_SERVERS, list(mcp_servers), runtime.list_loaded_server_metadata()')).toBe(
      '((), [], [])',
    )
    // The run that names a server can call what was just listed.
    expect(await strict.run('await mcp_everything.echo(message="x")', { servers: ['everything'] })).toMatch(/x/)
    expect(await strict.run('await runtime.list_servers()', { servers: ['everything', 'my-files'] })).toBe(
      "['everything', 'my-files']",
    )
    expect(await strict.run('runtime.list_servers_sync()')).toBe('[]')
  })

  it('MCP_BRIDGE_LOAD=explicit gives a run the servers it names, and only names and configured descriptions of the others', async () => {
    const strict = await startBridge({
      servers: { everything: published.everything(), memory: published.memory('/dev/null') },
      env,
    })
    // From here on, the bridge knows its tools, its instructions and that it runs.
    expect(
      await strict.run('len(await runtime.list_tools("everything")) > 5', { servers: ['everything', 'memory'] }),
    ).toBe('True')
    for (const call of [
      'await runtime.call_tool("everything", "echo", {"message": "x"})',
      'await runtime.call_tool("ever" + "ything", "echo", {"message": "x"})',
      'mcp_servers["everything"]',
      'mcp_everything.echo',
      'mcp_everything',
      'await runtime.query_tool_docs("everything")',
      'await runtime.list_tools("everything")',
      'runtime.describe_server("everything")',
      'await runtime.search_tool_docs("echo", servers="everything")',
    ]) {
      for (const servers of [[], ['memory']]) {
        const { text } = await strict.call({ code: code(call), servers })
        expect(text, call).toMatch(/Server 'everything' is not available|name 'mcp_everything' is not defined/)
        if (text.includes('not available'))
          expect(text).toContain(
            `Run again with servers=${JSON.stringify([...servers, 'everything']).replace(',', ', ')}`,
          )
      }
    }
    const imported = await strict.call({ code: 'from mcp.servers.everything import echo' })
    expect(imported.text).toContain('Run again with servers=["everything"]')
    const unnamed = await strict.call({ code: 'mcp_everything' })
    expect(unnamed.text).toContain('Run again with servers=["everything"]')
    const nothing = await strict.call({
      code: 'print([dict(s) for s in runtime.discovered_servers(True)], runtime.capability_summary(), await runtime.search_tool_docs("echo a message"), await runtime.list_servers(), dir(mcp.servers))',
      servers: ['memory'],
    })
    expect(nothing.isError).toBe(false)
    expect(nothing.text).toContain(
      "{'name': 'everything', 'alias': 'everything', 'description': '', 'state': 'not-loaded'}",
    )
    expect(nothing.text).not.toMatch(/echo\(|get_sum|13 tools|"echo"|'echo'/)
    expect(nothing.text).toMatch(/\['memory'\] \['memory'\]/)
  })
})
