// Opens an address in the user's browser. Best effort: callers also show the address.
import { spawn } from 'node:child_process'

const OPENERS: Partial<Record<NodeJS.Platform, [command: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

export function openBrowser(address: string): void {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open']
  const child = spawn(command, [...args, address], { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
}
