// Headers that a command writes, as `headersHelper` of Claude Code: run for each connection, and when the server
// refuses them. It gets what its client would give it, but none of the bridge's own keys.
import { areHeaders, type RemoteServer } from '@sandbridge/core/config/entries'
import type { HeldSecrets } from '@sandbridge/core/config/secrets'
import type { ClientContext } from '@sandbridge/core/config/settings'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { ServerAuth } from '@sandbridge/core/parts'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import { runCommand } from '@sandbridge/core/util/process'

/** As Claude Code has it. */
const LIMIT_MS = 10_000

type Place = Pick<ClientContext, 'env' | 'cwd'>

export async function withHelpersHeaders(name: string, server: RemoteServer, place: Place): Promise<RemoteServer> {
  const { headersHelper, url } = server
  if (headersHelper === undefined) return server
  const isWindows = process.platform === 'win32'
  const [shell, ...args] = isWindows
    ? ['cmd.exe', '/d', '/s', '/c', `"${headersHelper}"`]
    : ['/bin/sh', '-c', headersHelper]
  const inherited = Object.entries(place.env).filter(([variable]) => !variable.startsWith('MCP_BRIDGE_'))
  const { code, stdout, missing } = await runCommand(shell, args, {
    isVerbatim: true,
    timeoutMs: LIMIT_MS,
    cwd: place.cwd,
    env: {
      ...Object.fromEntries(inherited),
      CLAUDE_CODE_MCP_SERVER_NAME: name,
      CLAUDE_CODE_MCP_SERVER_URL: url,
    },
  })
  const printed = parseJson(stdout.replace(/^\uFEFF/, ''))
  if (code === 0 && areHeaders(printed)) return { ...server, headers: merged(server.headers, printed) }
  let why = `exited with code ${code}`
  if (missing) why = 'could not be started'
  else if (code === null) why = `did not end within ${LIMIT_MS / 1000} s`
  else if (code === 0) why = `did not print a JSON object of ${isRecord(printed) ? 'valid headers' : 'names and texts'}`
  throw new BridgeError('CONFIG_INVALID', `The headersHelper of server '${name}' ${why}`, {
    hint: 'Run it in a terminal, and correct it or the entry.',
  })
}

export function helperAuth(name: string, server: RemoteServer, place: Place, held: HeldSecrets): ServerAuth {
  const { origin } = new URL(server.url)
  /** Missing until the first are refused: those are in the transport. */
  let current: Promise<Record<string, string>> | undefined
  const run = async (): Promise<Record<string, string>> => {
    const { headers } = await withHelpersHeaders(name, server, place)
    held.add(...Object.values(headers).flatMap((value) => [value, value.replace(/^\w+ +/, '')]))
    return headers
  }
  return {
    through: (fetch) => async (url, init) => {
      if (new URL(url).origin !== origin) return fetch(url, init)
      const send = async (given: typeof current): Promise<Response> => {
        const all = new Headers(init?.headers)
        for (const [header, value] of Object.entries((await given) ?? {})) all.set(header, value)
        return fetch(url, { ...init, headers: all })
      }
      const used = current
      const response = await send(used)
      if (response.status !== 401 && response.status !== 403) return response
      await response.body?.cancel()
      // Requests that were refused with the same headers share one run.
      if (current === used) {
        current = run().catch((error: unknown) => {
          current = used
          throw error
        })
      }
      return send(current)
    },
  }
}

/** Names of headers have no case. */
function merged(kept: Record<string, string>, added: Record<string, string>): Record<string, string> {
  const names = new Set(Object.keys(added).map((name) => name.toLowerCase()))
  return { ...Object.fromEntries(Object.entries(kept).filter(([name]) => !names.has(name.toLowerCase()))), ...added }
}
