// @module-tag whole: it installs a server
// This file verifies that a server that uv has to install gets the time it needs, and that an incomplete cache is named
// with its repair.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { ServerDefinition } from '../../../core/src/config/entries/server-definition.ts'
import { findPrograms } from '../../../core/src/util/process/find-program.ts'
import { makeWheel } from '@sandbridge/core/test/support/servers/make-wheel.ts'
import { open, textOf } from '@sandbridge/core/test/upstream/support.ts'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const SERVER = `import json, sys
from slow_server import words
def main():
    for line in sys.stdin:
        message = json.loads(line)
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
        if message["method"] == "tools/list":
            result = {"tools": [{"name": "say", "inputSchema": {"type": "object"}}]}
        if message["method"] == "tools/call":
            result = {"content": [{"type": "text", "text": words.WORD}]}
        if "id" in message:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
`
const WHEEL = makeWheel({
  name: 'slow_server',
  files: {
    'slow_server/__init__.py': '',
    'slow_server/words.py': 'WORD = "installed"\n',
    'slow_server/main.py': SERVER,
    'slow_server-1.0.dist-info/entry_points.txt': '[console_scripts]\nslow-server = slow_server.main:main\n',
  },
})

/** An index of packages with one server, each of whose answers takes a second. */
async function slowIndex(): Promise<string> {
  const http = createServer((request, response) => {
    const isWheel = request.url!.endsWith('.whl')
    response.setHeader('content-type', isWheel ? 'application/octet-stream' : 'text/html')
    const body = isWheel ? WHEEL.data : `<a href="/files/${WHEEL.fileName}">${WHEEL.fileName}</a>`
    setTimeout(() => response.end(body), 1000)
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/simple/`
}

it('a server that uv installs gets the time that this takes, and an incomplete cache is named with its repair', async () => {
  if (findPrograms('uvx').length === 0) skip('uv is not installed')
  if (findPrograms('python3').length === 0) skip('python3 is missing')
  const home = newFolder()
  const cache = path.join(home, 'cache')
  const env = { UV_CACHE_DIR: cache, UV_DEFAULT_INDEX: await slowIndex(), UV_PYTHON_DOWNLOADS: 'never' }
  const definition: ServerDefinition = {
    name: 'slow',
    transport: { type: 'stdio', command: 'uvx', args: ['slow-server'], env },
    source: { client: 'test', file: 'test.json' },
  }
  const heard: string[] = []
  const onProgress = ({ message = '' }) => void heard.push(message)
  const upstreams = open([definition], { startTimeoutMs: 50, installLimits: { quietMs: 20_000, lookMs: 50 } })
  expect(textOf(await upstreams.callTool('slow', 'say', {}, { onProgress }))).toBe('installed')
  expect(heard.join()).toContain('the server is being installed by uv')
  await upstreams.close()

  for (const file of readdirSync(cache, { recursive: true, encoding: 'utf8' }))
    if (file.endsWith(path.join('slow_server', 'words.py'))) rmSync(path.join(cache, file), { force: true })
  const later = open([definition])
  const error = await later.listTools('slow').catch((thrown: unknown) => thrown)
  const repair = `uv cache clean --cache-dir ${cache}`
  expect(error).toMatchObject({
    message: expect.stringContaining("uv's copy of the package seems to be incomplete."),
    userHint: `Empty its cache: ${repair}`,
  })
  const [uv] = findPrograms('uv')
  execFileSync(uv!, repair.split(' ').slice(1), { stdio: 'ignore' })
  expect(await later.listTools('slow')).toHaveLength(1)
})
