// This file verifies that the built bridge reads every format: parsers are bundled, and some work only if they are
// bundled correctly.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { CLI, bridgeEnv, makeHome } from '../support/bridges/bridge-process.ts'

const FILES = {
  '.cursor/mcp.json': '{"mcpServers": {"in-jsonc": {}}} // a comment',
  '.codex/config.toml': '[mcp_servers.in-toml]\n',
  '.config/goose/config.yaml': 'extensions:\n  in-yaml: {}\n',
}

it('the built bridge reads JSON with comments, TOML and YAML', () => {
  const home = makeHome()
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(path.dirname(path.join(home, file)), { recursive: true })
    writeFileSync(path.join(home, file), text)
  }
  const { stdout } = spawnSync(process.execPath, [CLI, 'servers', '--sources'], {
    cwd: home,
    env: bridgeEnv(home),
    encoding: 'utf8',
    timeout: 20_000,
  })
  for (const name of ['in-jsonc', 'in-toml', 'in-yaml']) expect(stdout).toContain(name)
  expect(stdout.match(/has neither a command nor a url/g)).toHaveLength(3)
})
