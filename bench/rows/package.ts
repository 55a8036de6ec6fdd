// Rows of the published package: its size, and the packages that are installed with it.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { NPM } from '@sandbridge/core/test/support/machine/npm-command.ts'
import { type BenchRow, reported } from '../row.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Packed {
  size: number
  unpackedSize: number
  entryCount: number
}

export default async function packageRows(): Promise<BenchRow[]> {
  const [npm, ...words] = NPM
  const { stdout } = spawnSync(npm, [...words, 'pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
  })
  const [packed] = JSON.parse(stdout) as [Packed]
  const lock = JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8')) as {
    packages: Record<string, { dev?: boolean; optional?: boolean }>
  }
  const installed = Object.entries(lock.packages).filter(([name, entry]) => name && !entry.dev && !entry.optional)
  const { dependencies } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as {
    dependencies: Record<string, string>
  }
  const kilobytes = (bytes: number) => `${Math.round(bytes / 1000)} kB`
  return [
    reported(
      'package',
      `${kilobytes(packed.size)} packed, ${kilobytes(packed.unpackedSize)} unpacked, ${packed.entryCount} files`,
    ),
    { name: 'direct dependencies', value: Object.keys(dependencies).join(', '), goal: '', ok: null },
    { name: 'packages installed in all', value: String(installed.length), goal: '', ok: null },
  ]
}
