// `sandbridge login SERVER`: signs in to a remote server in the browser. All bridges of this user share the tokens.
import path from 'node:path'
import { createInterface } from 'node:readline'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { mayLogIn } from '@sandbridge/core/upstream/auth'
import { oauth } from '@sandbridge/core/parts'
import { CLIENT_INFO } from '@sandbridge/core/util'
import { print, printJson, tell } from '@sandbridge/core/serve/cli/terminal'
import { withBridge } from '@sandbridge/shared/open-bridge.ts'
import { nameIn, remoteServer, serversOf } from './named-servers.ts'
import { spawn } from 'node:child_process'
import { foundProgram } from '@sandbridge/core/util/process'

/** How long a user may take. */
const LIMIT_MS = 10 * 60_000

interface LoginOptions {
  browser: boolean
  scope?: string
  json?: boolean
  new?: boolean
  /** Sign in only for this user of `run --http`. */
  user?: string
}

export async function login(given: string, options: LoginOptions): Promise<void> {
  try {
    await signIn(given, options)
  } catch (error) {
    if (!options.json || !BridgeError.isInstance(error)) throw error
    const { code, message, hint } = error
    printJson({ server: given, signedIn: false, error: { code, message, hint } })
    process.exitCode = 1
  }
}

async function signIn(given: string, options: LoginOptions): Promise<void> {
  const { login: begin } = await oauth.for('`sandbridge login`')
  await withBridge(async (bridge) => {
    const set = await serversOf(bridge, options.user)
    const name = nameIn(set, given)
    const server = await remoteServer(set, name)
    if (!mayLogIn(server)) throw notUsed(name, server.oauth !== undefined)
    const lines = options.browser ? undefined : linesOf(process.stdin)
    const { wasNeeded, wasSignedIn } = await begin({
      name,
      server,
      store: set.connected.tokenStore,
      clientInfo: CLIENT_INFO,
      env: process.env,
      signal: AbortSignal.timeout(LIMIT_MS),
      showPage: (url) => {
        const text = `Sign in to '${name}' here:\n${url.href}\nThis command waits for ${LIMIT_MS / 60_000} minutes.`
        if (options.json) tell(text)
        else print(text)
        if (options.browser) openBrowser(url.href, process.env)
      },
      ...(options.scope !== undefined && { scope: options.scope }),
      ...(options.new && { isFresh: true }),
      ...(lines && { pasted: lines }),
    })
    if (options.json) return printJson({ server: name, signedIn: wasNeeded })
    const whose = options.user === undefined ? '' : ` for ${options.user}`
    if (wasNeeded) return print(`Signed in to '${name}'${whose}.`)
    print(
      wasSignedIn
        ? `'${name}' is already signed in. Sign in anew: sandbridge login ${name} --new`
        : `'${name}' needs no sign-in: it answers without one, and names no authorization server.`,
    )
  })
}

function notUsed(name: string, hasCredentials: boolean): BridgeError {
  const [what, hint] = hasCredentials
    ? ['signs in with the client secret of its definition', 'It needs no sign-in in a browser.']
    : ['has an Authorization header in its definition, which is used in place of a sign-in', 'Remove the header first.']
  return new BridgeError('CONFIG_INVALID', `Server '${name}' ${what}`, { hint })
}

/** Asks for a line. When stdin ends, only the redirect can still bring the answer. */
function linesOf(input: NodeJS.ReadStream): (signal: AbortSignal, problem: string | undefined) => Promise<string> {
  const waiting: ((line: string) => void)[] = []
  const left: string[] = []
  let terminal: ReturnType<typeof createInterface> | undefined
  return (signal, problem) => {
    if (!terminal) {
      terminal = createInterface({ input })
      terminal.on('line', (line) => {
        const next = waiting.shift()
        if (next) next(line)
        else left.push(line)
      })
      signal.addEventListener('abort', () => terminal?.close(), { once: true })
    }
    // Lines that were pasted together with the last one belong to it.
    const line = left.shift()
    if (line !== undefined) return Promise.resolve(line)
    tell(problem === undefined ? 'Then paste the final address of the browser:' : `${problem} Paste the final address:`)
    return new Promise((resolve) => waiting.push(resolve))
  }
}

const OPENERS: Partial<Record<NodeJS.Platform, [command: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** @param env names commands in BROWSER, for machines without an opener, such as containers and WSL */
function openBrowser(address: string, env: Readonly<Record<string, string | undefined>>): void {
  const named = (env['BROWSER'] ?? '').split(path.delimiter).map((command) => command.trim().split(/\s+/))
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
