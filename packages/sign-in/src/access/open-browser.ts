// Opens an address in the user's browser. Best effort: callers also show the address.
import { spawn } from 'node:child_process'
import { foundProgram } from '@sandbridge/core/util/process'

const OPENERS: Partial<Record<NodeJS.Platform, [command: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** @param env names commands in BROWSER, for machines without an opener, such as containers and WSL */
export function openBrowser(address: string, env: Readonly<Record<string, string | undefined>>): void {
  const named = (env['BROWSER'] ?? '').split(':').map((command) => command.trim().split(/\s+/))
  tryEach([OPENERS[process.platform] ?? ['xdg-open'], ...named.filter(([command]) => command !== '')], address)
}

/** Starts the first command that is there. */
function tryEach([next, ...others]: string[][], address: string): void {
  const [command, ...words] = next ?? []
  if (command === undefined) return
  const args = words.map((word) => word.replaceAll('%s', address))
  const found = foundProgram(command, process.env)
  const child = spawn(found.file, words.join().includes('%s') ? args : [...args, address], {
    env: found.env,
    stdio: 'ignore',
    detached: true,
  })
  child.on('error', () => tryEach(others, address))
  child.unref()
}
