import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { newFolder } from './new-folder.ts'

/** A home folder, and its settings.json, which is written if there is content. */
export function settingsHome(content?: string | object): { home: string; file: string } {
  const home = newFolder()
  const file = path.join(home, 'MCPs', 'settings.json')
  mkdirSync(path.dirname(file))
  if (content !== undefined)
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, undefined, 2), { mode: 0o600 })
  return { home, file }
}
