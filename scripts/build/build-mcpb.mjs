// `npm run build:mcpb`: packs the npm package and its one dependency into sandbridge.mcpb, for clients that install
// bundles.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const stage = mkdtempSync(path.join(tmpdir(), 'sandbridge-mcpb-'))
const run = (command, ...args) =>
  execFileSync(command, args, { cwd: stage, stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' })

try {
  const [{ filename }] = JSON.parse(run('npm', 'pack', root, '--json', '--silent'))
  run('tar', '-xzf', filename, '--strip-components=1')
  rmSync(path.join(stage, filename))
  run('npm', 'install', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--silent')
  copyFileSync(path.join(root, 'packaging/mcpb.json'), path.join(stage, 'manifest.json'))
  run('npx', '--yes', '@anthropic-ai/mcpb@2.1.2', 'pack', stage, path.join(root, 'sandbridge.mcpb'))
} finally {
  rmSync(stage, { recursive: true, force: true })
}
