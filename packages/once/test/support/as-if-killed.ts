import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** What this process has written in the logs of a store is that of a process that is gone. */
export function asIfKilled(store: string): void {
  const folder = path.join(store, 'once')
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const file = path.join(folder, name)
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(`"pid":${process.pid}`, '"pid":4194305'))
  }
}
