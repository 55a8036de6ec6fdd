// Other versions of Node, which come from the package registry and are kept in .cache.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { ROOT } from '../bridges/bridge-process.ts'
import { needsLinux, skip } from '../suite/needs.ts'
import { NPM } from '../machine/npm-command.ts'

/** @returns the path of that version; skips the test where it cannot be had */
export function nodeOf(version: string): string {
  needsLinux('other versions of Node are installed as packages for Linux')
  const folder = path.join(ROOT, '.cache/test/nodes', version)
  const name = `node-linux-${process.arch}`
  const node = path.join(folder, 'node_modules', name, 'bin/node')
  if (existsSync(node)) return node
  mkdirSync(folder, { recursive: true })
  const [npm, ...words] = [...NPM, 'install', '--no-save', '--no-audit', '--no-fund', '--silent'] as const
  spawnSync(npm, [...words, '--prefix', folder, `${name}@${version}`], { cwd: folder, timeout: 300_000 })
  return existsSync(node) ? node : skip(`Node ${version} cannot be installed here`)
}
