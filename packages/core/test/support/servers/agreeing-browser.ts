// A PATH whose browser belongs to a user who agrees to everything, for commands that open a sign-in page.
import { chmodSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { newFolder } from '../machine/new-folder.ts'

/** A PATH with these programs before the machine's own. */
export function pathWith(files: Record<string, string>): string {
  const folder = newFolder()
  for (const [name, source] of Object.entries(files)) {
    writeFileSync(path.join(folder, name), source)
    chmodSync(path.join(folder, name), 0o755)
  }
  return `${folder}${path.delimiter}${process.env['PATH']}`
}

export function pathWithBrowser(): string {
  const browser = `#!${process.execPath}\nfetch(process.argv[2])\n`
  return pathWith({ 'xdg-open': browser, open: browser })
}
