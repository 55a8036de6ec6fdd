// Recognises a definition that would start this bridge again or that is its own URL, which would list itself forever.
// Checks the program that runs, not every word: a folder may be called sandbridge. Pure.
import { commandsIn, programName, runnerOf, runnerTarget } from './runner-words.ts'
import type { RemoteServer, StdioServer } from './server-definition.ts'
import { comparable } from '../../util/files/absolute-path.ts'
import { isLoopback } from '../../util/net/loopback.ts'

/** This package, and the system it re-creates. */
const OWN_NAME = /^(sandbridge|mcp[-_]server[-_]code[-_]execution[-_]mode)$/i

/** @param ownPaths the paths of this bridge's own script. */
export function launchesBridge(transport: StdioServer | RemoteServer, ownPaths: readonly string[]): boolean {
  return transport.type === 'stdio' && runsBridge([transport.command, ...transport.args], ownPaths)
}

/** @param ownPort the port of this bridge, if it serves HTTP */
export function reachesBridge(transport: StdioServer | RemoteServer, ownPort: number | undefined): boolean {
  if (transport.type === 'stdio' || ownPort === undefined || !URL.canParse(transport.url)) return false
  const { protocol, hostname, port } = new URL(transport.url)
  return isLoopback(hostname) && protocol === 'http:' && Number(port || 80) === ownPort
}

function runsBridge(words: readonly string[], ownPaths: readonly string[]): boolean {
  return commandsIn(words).some(([command = '', ...rest]) => {
    if (isBridge(command, ownPaths)) return true
    const runner = runnerOf(command)
    if (runner === undefined) return false
    const { packages, program } = runnerTarget(runner, rest)
    return packages.some((name) => isBridge(name, ownPaths)) || (program.length > 0 && runsBridge(program, ownPaths))
  })
}

function isBridge(word: string, ownPaths: readonly string[]): boolean {
  if (
    ownPaths.some((own) => comparable(own) === comparable(word)) ||
    /[/\\]sandbridge(?:(?:[/\\](?:dist|src))?[/\\]cli\.c?[jt]s|-\d[^/\\]*\.tgz)$/i.test(word)
  )
    return true
  // Of a package, an image or a script, without folders, version, tag and suffix.
  return OWN_NAME.test(programName(word.replace(/(?<=.)[@:#[=<>~][^/\\]*$/, '')))
}
