// A fingerprint of what the start of a server depends on beside its definition: variables, its program, files that it
// names. A failure is remembered only until one of them changes. Values enter only a common hash.
import { hash } from 'node:crypto'
import { statSync } from 'node:fs'
import path from 'node:path'
import { findPlaces } from '../../util/process/find-program.ts'
import { VERSION } from '../../util/package-root.ts'
import { inputVariable } from './input-answers.ts'
import { NETWORK_VARIABLES } from './passed-variables.ts'
import { placeholdersIn } from './placeholders.ts'
import type { RemoteServer, ServerDefinition, ServerSandbox, StdioServer } from './server-definition.ts'
import { orUndefined } from '../../util/or-undefined.ts'

/** The placeholders that expand.ts fills with the client's folder. */
const WORKSPACE = /\$\{workspace(?:Folder|FolderBasename|Root)\}/

export interface StartPlace {
  env: Record<string, string | undefined>
  home: string
  /** The folder that the bridge was started in. */
  workspaceFolder: string
  /** The file with the sign-ins to remote servers. */
  tokensFile?: string
}

/** Changes when another start may have another result. Reads no file: what the system says of it is enough. */
export function startInputs({ transport }: ServerDefinition, place: StartPlace): string {
  const texts = textsOf(transport)
  const own = transport.type === 'stdio' ? (transport.inheritEnv ?? []) : undefined
  const inherited = own ? [...own, ...Object.values(NETWORK_VARIABLES).flat()] : NETWORK_VARIABLES.proxies
  const variables = [...texts.flatMap(variablesIn), ...inherited]
  const files = transport.type === 'stdio' ? filesOf(transport, place) : [place.tokensFile ?? '']
  const inputs = [
    VERSION,
    [...new Set(variables)].toSorted().map((name) => [name, place.env[name] ?? null]),
    [...files, ...texts.flatMap(filesIn)].map((file) => stampOf(file, place)),
  ]
  return hash('sha256', JSON.stringify(inputs)).slice(0, 32)
}

function textsOf(transport: StdioServer | RemoteServer): string[] {
  if (transport.type !== 'stdio')
    return [
      transport.url,
      transport.headersHelper ?? '',
      ...Object.values(transport.headers),
      ...Object.values({ ...transport.oauth, ...transport.signIn }),
    ]
  const { command, args, env, cwd = '', envFile = '', sandbox } = transport
  return [command, ...args, ...Object.values(env), cwd, envFile, ...(sandbox ? sandboxTexts(sandbox) : [])]
}

function sandboxTexts({ filesystem = {}, network, image = '' }: ServerSandbox): string[] {
  const domains = typeof network === 'object' ? Object.values(network) : []
  return [...[...Object.values(filesystem), ...domains].flat(), image]
}

/** Whether the start depends on the client's folder despite an absolute `cwd`: by a placeholder or a relative file. */
export function namesFolder({ transport }: Pick<ServerDefinition, 'transport'>): boolean {
  const texts = textsOf(transport)
  // A helper for headers runs there.
  if (transport.type !== 'stdio' && transport.headersHelper !== undefined) return true
  if (texts.some((text) => WORKSPACE.test(text))) return true
  const files = texts.flatMap(filesIn)
  if (transport.type === 'stdio') {
    const { envFile, sandbox } = transport
    files.push(...(envFile === undefined ? [] : [envFile]), ...Object.values(sandbox?.filesystem ?? {}).flat())
  }
  return !files.every(isAbsolutePlace)
}

/** Whether a path in a definition is the same for every client with this home. */
export function isAbsolutePlace(written: string): boolean {
  return /^(?:[/\\]|~(?:[/\\]|$)|[A-Za-z]:[/\\]|\$\{userHome\})/.test(written)
}

/** `${NAME}`, `${env:NAME:-default}` and `${input:ID}`. */
function variablesIn(text: string): string[] {
  const named = placeholdersIn(text).filter(({ kind }) => kind !== 'file')
  return named.map(({ kind, name }) => (kind === 'input' ? inputVariable(name) : name))
}

/** `${file:PATH}`. */
function filesIn(text: string): string[] {
  return placeholdersIn(text).flatMap(({ kind, name }) => (kind === 'file' ? [name] : []))
}

/** The program, its folder, and every argument that may be a file, including after a `=`. */
function filesOf({ command, args, cwd = '', envFile = '' }: StdioServer, place: StartPlace): string[] {
  const named = args.map((arg) => (arg.startsWith('-') ? (/=(.+)$/s.exec(arg)?.[1] ?? '') : arg))
  return [programOf(command, place), cwd, envFile, ...named]
}

/** The path of a command that is found through PATH. */
function programOf(command: string, place: StartPlace): string {
  if (/[/\\]/.test(command)) return command
  const extensions = process.platform === 'win32' ? (place.env['PATHEXT'] ?? '.EXE;.CMD').split(';') : ['']
  const [file = ''] = findPlaces(command, place.env['PATH'], process.platform, extensions).values()
  return file
}

/** What changes with a file, also where its time is set back, as `cp -p` and archives do; null for anything else. */
function stampOf(written: string, { home, workspaceFolder }: StartPlace): unknown {
  if (written === '' || written.includes('\0')) return null
  const filled = written.replace(/^(~|\$\{userHome\})(?=[/\\]|$)/, home)
  // A part of its path may be no folder, unreadable or too long.
  const stat = orUndefined(() => statSync(path.resolve(workspaceFolder, filled)))
  return stat === undefined ? null : [filled, stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs]
}
