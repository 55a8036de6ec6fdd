// Sandboxes with one defence removed, to show that an attack works without it. Defences are removed from a copy of the
// bundle by text replacement, because the product has no switch for them.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { childArguments, nodeFlags, planMemory, underMemoryCap } from '../../src/isolation/pyodide/command.ts'
import { readBuilt } from '../../src/isolation/pyodide/snapshot.ts'
import { spawnSandbox } from '../../src/isolation/pyodide/spawn-sandbox.ts'
import type { Sandbox } from '../../src/isolation/provider.ts'

interface Change {
  file: string
  find: string
  put: string
}

export interface Weakening {
  changes?: Change[]
  /** Prefixes of Node flags to leave out. */
  withoutFlags?: string[]
  /** Whether a change requires a new heap snapshot. */
  newSnapshot?: boolean
}

const memory = planMemory(512 << 20)

/** A copy of a bundle with changes. Throws when a text to change is missing, so that no test passes by accident. */
async function weakenedBundle(bundle: string, { changes = [], newSnapshot }: Weakening): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'weakened-'))
  await cp(bundle, folder, { recursive: true })
  for (const { file, find, put } of changes) {
    const path = join(folder, file)
    const text = await readFile(path, 'utf8')
    if (!text.includes(find)) throw new Error(`${file} does not hold '${find}'`)
    await writeFile(path, text.replaceAll(find, put))
  }
  if (newSnapshot) {
    const command = [process.execPath, ...nodeFlags(folder, memory), ...childArguments(folder, 'build', memory)]
    const made = await readBuilt(spawnSandbox({ command }))
    await writeFile(join(folder, 'snapshot.bin'), made.snapshot)
    await writeFile(join(folder, 'glue.cache'), made.codeCache)
  }
  return folder
}

/**
 * A sandbox without the outer wall and without the given defences. Its folder is deleted when the sandbox has ended.
 */
export async function weakenedSandbox(bundle: string, weakening: Weakening): Promise<Sandbox> {
  const folder = await weakenedBundle(bundle, weakening)
  const flags = flagsWithout(folder, weakening.withoutFlags ?? [])
  const command = [process.execPath, ...flags, ...childArguments(folder, 'serve', memory)]
  const sandbox = spawnSandbox({ command: underMemoryCap(command, memory) })
  void sandbox.exited.then(() => rm(folder, { recursive: true, force: true }))
  return sandbox
}

/** The sandbox process's flags, without some. Throws when a flag to leave out is missing. */
export function flagsWithout(folder: string, without: string[]): string[] {
  const all = nodeFlags(folder, memory)
  for (const prefix of without) {
    if (!all.some((flag) => flag.startsWith(prefix))) throw new Error(`there is no flag ${prefix}`)
  }
  return all.filter((flag) => !without.some((prefix) => flag.startsWith(prefix)))
}
