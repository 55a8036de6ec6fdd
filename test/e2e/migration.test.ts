// @module-tag whole: each block of the page about migration is run
// A user of mcp-server-code-execution-mode changes one line in a config file. This file verifies, in every sandbox,
// that the features that users' scripts and habits rely on work here, too. docs/migration.md has the same list.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  bridgeEnv,
  closeTestBridge,
  makeHome,
  openTestBridge,
  published,
  type TestBridge,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { makeProvider, runtimeEnv, whyNot } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { startBridge } from '@sandbridge/core/test/support/bridges/start-bridge.ts'

const memoryFile = (folder: string) => path.join(folder, 'memory.jsonl')
const serversIn = (home: string) => ({
  everything: { ...published.everything(), cwd: home, description: 'One of each kind of tool' },
  'my-memory': published.memory(memoryFile(home)),
})

// One sandbox with an engine and one without; the rest of the code is the same for all.
describe.each(['podman', 'pyodide'] as const)('in %s', (provider) => {
  const env = runtimeEnv(provider)
  let bridge: TestBridge | undefined
  /** With settings that one changes after a move. */
  let changed: TestBridge | undefined
  let missing: string | undefined
  beforeAll(async () => {
    missing = await whyNot(makeProvider(provider))
    if (missing !== undefined) return
    const home = makeHome()
    writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: serversIn(home) }))
    bridge = await openTestBridge({ home, env })
    await bridge.run('await runtime.search_tool_docs("echo")')
    changed = await openTestBridge({
      servers: { everything: published.everything() },
      env: { ...env, MCP_BRIDGE_PROJECTS: '0', MCP_BRIDGE_COMPAT: '1' },
    })
  })
  afterAll(async () => {
    for (const one of [bridge, changed]) if (one) await closeTestBridge(one)
  })

  it.each<[string, string, string]>([
    [
      'MCPError is a RuntimeError',
      'issubclass(runtime.MCPError, RuntimeError), runtime.ToolNotFound.__mro__.count(RuntimeError)',
      '(True, 1)',
    ],
    [
      'except RuntimeError catches a failed call',
      'try: await mcp_everything.no_such_thing_at_all(**{})\nexcept RuntimeError as error: print(type(error).__name__)',
      'ToolNotFound',
    ],
    ['a proxy lists its tools', '[t["name"] for t in await mcp_everything.list_tools()][:1]', "['echo']"],
    ['… one line each', 'str(await mcp_everything.list_tools()).split("(")[0]', "'await mcp_everything.echo'"],
    [
      'TOOLS',
      'import mcp.servers\n"echo" in mcp.servers.everything.TOOLS, mcp.servers.everything.TOOLS[0]["name"]',
      "(True, 'echo')",
    ],
    [
      'TOOL_MAP',
      'from mcp.servers.my_memory import TOOL_MAP\nTOOL_MAP["create_entities"]["alias"], "read_graph" in TOOL_MAP',
      "('create_entities', True)",
    ],
    [
      'TOOL_MAP names a tool for call_tool',
      'from mcp.servers.everything import TOOL_MAP\nawait runtime.call_tool("everything", TOOL_MAP["echo"], {"message": "hi"})',
      "'Echo: hi'",
    ],
    [
      'items of list_tools',
      't = (await runtime.list_tools("everything"))[0]\nt["name"], t["alias"], bool(t["description"]), list(t["input_schema"]["properties"])',
      "('echo', 'echo', True, ['message'])",
    ],
    ['the docs of one tool', '(await runtime.query_tool_docs("everything", tool="echo"))["toolAlias"]', "'echo'"],
    [
      'the docs of several tools say which to choose',
      '(await runtime.query_tool_docs("everything"))["toolAlias"]',
      'choose one, as in docs[0]["toolAlias"]'.replaceAll('"', "'"),
    ],
    [
      'list_loaded_server_metadata',
      'one = runtime.list_loaded_server_metadata()[0]\none["tools"][0]["name"], one["cwd"] is not None',
      "('echo', True)",
    ],
    ['cwd of describe_server', 'runtime.describe_server("my-memory")["cwd"]', ''],
    [
      'list_servers names all',
      'await runtime.list_servers(), runtime.list_servers_sync()',
      "(['everything', 'my-memory'], ['everything', 'my-memory'])",
    ],
    [
      'the environment',
      'import json, os\n[s["alias"] for s in json.loads(os.environ["MCP_AVAILABLE_SERVERS"])], list(json.loads(os.environ["MCP_DISCOVERED_SERVERS"]))',
      "(['everything', 'my_memory'], ['everything', 'my-memory'])",
    ],
    [
      'memories',
      'runtime.save_memory("a", {"n": 1}, metadata={"of": "me"})\nruntime.load_memory("a").n, runtime.memory_exists("a")',
      '(1, True)',
    ],
    [
      'memories are updated, listed and deleted',
      'runtime.update_memory("count", lambda n: n + 1, 0), [m["key"] for m in runtime.list_memories()], runtime.get_memory_info("a")["metadata"], runtime.delete_memory("a"), runtime.load_memory("a", 7)',
      "(1, ['a', 'count'], {'of': 'me'}, True, 7)",
    ],
    [
      'a note for an MCP result that is none',
      'r = await mcp_everything.echo(message="x")\nr["content"][0]["text"]',
      'raw=True',
    ],
  ])('a cell written for the original runs: %s', async (_, code, expected) => {
    if (!bridge) skip(missing!)
    const { text } = await bridge.call({ code })
    if (expected === '') expect(text).toBe('(no output)')
    else expect(text).toContain(expected)
  })

  it('unknown arguments are ignored, and the result says so', async () => {
    if (!bridge) skip(missing!)
    const { text, isError } = await bridge.call({ code: '1 + 1', language: 'python' })
    expect(isError).toBe(false)
    expect(text).toMatch(/^2\n[^]*'language' was ignored/)
  })

  it('server files that are added while the bridge runs are read before the next cell', async () => {
    if (!bridge) skip(missing!)
    const added = path.join(bridge.home, 'MCPs/added.json')
    writeFileSync(added, JSON.stringify({ mcpServers: { added: published.everything() } }))
    expect(await bridge.run('await mcp_added.echo(message="new")')).toBe("'Echo: new'")
    writeFileSync(added, JSON.stringify({ mcpServers: { renamed: published.everything() } }))
    expect(await bridge.run('runtime.discovered_servers()[0], "mcp_added" in globals()')).toBe("('renamed', False)")
    expect(await bridge.run('await mcp_everything.echo(message="still there")')).toBe("'Echo: still there'")
    writeFileSync(added, '{"mcpServers": {}}')
    expect(await bridge.run('await runtime.list_servers()')).toBe("['everything', 'my-memory']")
  })

  it('/projects keeps its files between sessions', async () => {
    if (!bridge) skip(missing!)
    await bridge.run(
      'import os\nos.makedirs("/projects/app/src")\nopen("/projects/app/src/a.py", "w").write("x = 1\\n")',
    )
    await bridge.run('runtime.reset()')
    expect(await bridge.run('open("/projects/app/src/a.py").read()')).toBe("'x = 1\\n'")
    await bridge.run('os = __import__("os")\nos.remove("/projects/app/src/a.py")\nos.removedirs("/projects/app/src")')
    await bridge.run('runtime.reset()')
    expect(await bridge.run('__import__("os").listdir("/projects")')).toBe('[]')
  })

  it('/projects is shared by sessions, limited, and holds plain files only', async () => {
    if (!bridge) skip(missing!)
    const other = await openTestBridge({ home: bridge.home, env })
    const write = (file: string, data: string) =>
      `with open("/projects/${file}", "w" if isinstance(${data}, str) else "wb") as f: f.write(${data})\nNone`
    try {
      await bridge.run(write('shared.txt', '"one"'))
      expect(await other.run('open("/projects/shared.txt").read()')).toBe("'one'")
      await other.run(write('shared.txt', '"two, and longer"'))
      expect(await bridge.run('open("/projects/shared.txt").read()')).toBe("'two, and longer'")
      // Larger than one frame, and then larger than a file may be.
      await bridge.run(write('large.bin', 'bytes(range(256)) * 30_000'))
      expect(await other.run('open("/projects/large.bin", "rb").read() == bytes(range(256)) * 30_000')).toBe('True')
      // The embedded sandbox has no room for such a file.
      if (provider !== 'pyodide')
        expect(await bridge.run(write('large.bin', 'b"x" * (41 << 20)'))).toMatch(/Not kept: .*large\.bin: .*40 MiB/)
      await bridge.run('import os\nos.remove("/projects/large.bin")\nos.symlink("/etc/passwd", "/projects/link")')
      expect(await other.run('sorted(__import__("os").listdir("/projects"))')).toBe("['shared.txt']")
      const { stdout } = await runCommand(['artifacts'], bridgeEnv(bridge.home, { MCP_BRIDGE_RUNTIME: provider }))
      expect(stdout).toMatch(/\/projects\/shared\.txt +15 bytes/)
      await bridge.run('os.remove("/projects/link")\nos.remove("/projects/shared.txt")')
      expect(await other.run('__import__("os").listdir("/projects")')).toBe('[]')
    } finally {
      await other.client.close()
    }
  })

  it('/projects keeps what an interrupted cell has written', async () => {
    if (!bridge) skip(missing!)
    const code = 'import time\nopen("/projects/late", "w").close()\ntime.sleep(60)'
    expect(await bridge.run(code, { timeout: 1 })).toMatch(/timed out|time limit|interrupted/i)
    await bridge.run('runtime.reset()')
    expect(await bridge.run('import os\nos.remove("/projects/late")\nos.listdir("/projects")')).toBe('[]')
  })

  it('MCP_BRIDGE_PROJECTS=0 removes /projects', async () => {
    if (!changed) skip(missing!)
    expect(await changed.run('__import__("os").path.exists("/projects")')).toBe('False')
  })

  it('MCP_BRIDGE_COMPAT returns MCP results, reaches only named servers, and offers the memory functions by name', async () => {
    if (!changed) skip(missing!)
    const old = changed
    const code = 'r = await mcp_everything.echo(message="x")\nr["content"][0]["text"]'
    const unnamed = await old.call({ code })
    expect(unnamed.isError).toBe(true)
    expect(unnamed.text).toContain("Server 'everything' is not available")
    const named = { servers: ['everything'] }
    expect(await old.run(code, named)).toBe("'Echo: x'")
    expect(
      await old.run('(await runtime.call_tool("everything", "echo", {"message": "y"}))["content"][0]["text"]', named),
    ).toBe("'Echo: y'")
    expect(await old.run('await mcp_everything.echo(message="z", raw=False)', named)).toBe("'Echo: z'")
    expect(await old.run('save_memory("k", [1])\nload_memory("k"), memory_exists("k")')).toBe('([1], True)')
    expect(await old.run('str(await mcp_everything.list_tools())[:5]', named)).toBe("'await'")
  })
})

it('settings of the original that differ slightly from ours start the bridge', async () => {
  const bridge = await startBridge({
    env: {
      MCP_BRIDGE_LOG_LEVEL: 'WARN',
      MCP_BRIDGE_MEMORY: '1.5g',
      MCP_BRIDGE_RUNTIME_IDLE_TIMEOUT: '0',
      MCP_BRIDGE_PIDS: '10',
      MCP_BRIDGE_TIMEOUT: '500',
    },
  })
  expect(await bridge.run('s = runtime.session()\ns.memoryBytes, s.idleTimeoutSeconds, s.timeoutSeconds')).toBe(
    '(1610612736, 0, 120)',
  )
})

it('~/MCPs outranks MCP_SERVERS_CONFIG, which may be TOML, and ~/.opencode.json is read', async () => {
  const home = makeHome({ both: { ...published.everything(), description: 'from MCPs' } })
  mkdirSync(path.join(home, 'conf'))
  const { command, args = [] } = published.everything()
  const table = (name: string) =>
    `[mcp_servers.${name}]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify([...args, name])}\ndescription = "from TOML"\n`
  writeFileSync(path.join(home, 'conf/servers.toml'), table('both') + table('alone'))
  writeFileSync(
    path.join(home, '.opencode.json'),
    JSON.stringify({ mcpServers: { old: { type: 'stdio', command, args: [...args, 'old'], env: ['A=b'] } } }),
  )
  const bridge = await startBridge({ home, env: { MCP_SERVERS_CONFIG: path.join(home, 'conf/servers.toml') } })
  const found = await bridge.run('{s["name"]: s["description"] for s in runtime.discovered_servers(detailed=True)}')
  expect(found).toContain("'both': 'from MCPs'")
  expect(found).toContain("'alone': 'from TOML'")
  expect(found).toContain("'old'")
})

it('doctor names the settings that have no effect here', async () => {
  const home = makeHome()
  const env = bridgeEnv(home, {
    MCP_BRIDGE_RUNTIME: 'pyodide',
    MCP_BRIDGE_IMAGE: 'python:3.12',
    MCP_BRIDGE_PIDS: '10',
    MCP_BRIDGE_NO_SUCH: '1',
  })
  const { stdout } = await runCommand(['doctor'], env)
  expect(stdout).toContain('MCP_BRIDGE_IMAGE has no effect with pyodide')
  expect(stdout).toContain('MCP_BRIDGE_PIDS=10 is too low: 16 is used.')
  expect(stdout).toContain('MCP_BRIDGE_NO_SUCH is not a setting and is ignored.')
})
