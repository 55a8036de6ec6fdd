// Exports and imports a hundred workflows and a gigabyte of artifacts: neither may hold everything in memory.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { ArtifactStore } from '@sandbridge/memories/saved/artifact-store.ts'
import { SavedToolStore } from '@sandbridge/memories/saved/saved-tool-store.ts'
import { bridgeEnv, CLI, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import type { BenchRow } from '../../../bench/row.ts'
import { fileStore } from '../../core/src/util/stores/open-stores.ts'

const WORKFLOWS = 100
const ARTIFACTS = 25
const ARTIFACT_BYTES = 40 * 2 ** 20
const GOAL_MB = 200

export default async function bundleRows(): Promise<BenchRow[]> {
  const [from, to] = [makeHome(), makeHome()]
  await fill(path.join(from, 'MCPs'))
  const file = path.join(from, 'all.sbx')
  const rows = [
    await row('export', from, ['export', '-o', file], 'Wrote'),
    await row('import', to, ['import', file, '--yes'], 'step_99: version'),
  ]
  await Promise.all([from, to].map((home) => rm(home, { recursive: true, force: true })))
  return rows
}

async function fill(stateDir: string): Promise<void> {
  mkdirSync(stateDir, { recursive: true })
  const tools = new SavedToolStore(fileStore(path.join(stateDir, '.sandbridge')))
  for (let index = 0; index < WORKFLOWS; index += 1) {
    const name = `step_${index}`
    const source = `def ${name}():\n    return ${index}\n`
    const workflow = { title: name.replace('_', '-'), parameters: [], uses: [], packages: [] }
    const content = {
      name,
      source,
      imports: [],
      servers: [],
      signature: '()',
      description: '',
      isAsync: false,
      workflow,
    }
    await tools.save(content, () => Promise.resolve())
  }
  const artifacts = new ArtifactStore(fileStore(path.join(stateDir, '.sandbridge')))
  for (let index = 0; index < ARTIFACTS; index += 1) {
    await artifacts.save(`part-${index}.bin`, Buffer.alloc(ARTIFACT_BYTES, index))
  }
}

async function row(what: string, home: string, args: string[], said: string): Promise<BenchRow> {
  const child = spawn(process.execPath, [CLI, ...args], { env: bridgeEnv(home), cwd: home, stdio: 'pipe' })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  let kilobytes = 0
  const looking = setInterval(() => (kilobytes = Math.max(kilobytes, peakOf(child.pid!))), 20)
  await once(child, 'close')
  clearInterval(looking)
  const isDone = output.includes(said)
  const megabytes = kilobytes / 1024
  return {
    name: `memory at its most: ${what} of ${WORKFLOWS} workflows and 1 GB of artifacts`,
    value: isDone ? `${megabytes.toFixed(0)} MB` : `failed: ${output.slice(-200).trim()}`,
    goal: `≤ ${GOAL_MB} MB`,
    ok: process.platform === 'linux' ? isDone && megabytes <= GOAL_MB : null,
  }
}

/** Kilobytes; 0 once the process has exited. */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
