// Headers that a command writes, as `headersHelper` of Claude Code: run by the shell for each connection, it prints a
// JSON object of names and texts, which take precedence over the headers of the entry.
import type { RemoteServer, ServerDefinition } from '../../config/entries/server-definition.ts'
import type { ClientContext } from '../../config/settings/client-context.ts'
import { BridgeError } from '../../errors.ts'
import { isRecord, parseJson } from '../../util/json/json.ts'
import { runCommand } from '../../util/process/run-command.ts'

/** As Claude Code has it. */
const LIMIT_MS = 10_000

/**
 * The transport with its headers. What the command prints is never quoted.
 * @throws BridgeError CONFIG_INVALID where the command fails
 */
export async function withHelpersHeaders(
  { name }: ServerDefinition,
  { headersHelper, ...server }: RemoteServer,
  { env, cwd }: Pick<ClientContext, 'env' | 'cwd'>,
): Promise<RemoteServer> {
  if (headersHelper === undefined) return server
  const [shell, flags] = process.platform === 'win32' ? ['cmd.exe', ['/d', '/s', '/c']] : ['/bin/sh', ['-c']]
  const { code, stdout } = await runCommand(shell, [...flags, headersHelper], {
    timeoutMs: LIMIT_MS,
    cwd,
    env: { ...env, CLAUDE_CODE_MCP_SERVER_NAME: name, CLAUDE_CODE_MCP_SERVER_URL: server.url },
  })
  const printed = parseJson(stdout)
  const isTable = isRecord(printed) && Object.values(printed).every((value) => typeof value === 'string')
  if (code === 0 && isTable) {
    const added = new Set(Object.keys(printed).map((header) => header.toLowerCase()))
    const kept = Object.entries(server.headers).filter(([header]) => !added.has(header.toLowerCase()))
    return { ...server, headers: { ...Object.fromEntries(kept), ...(printed as Record<string, string>) } }
  }
  const why =
    code === null
      ? `did not end within ${LIMIT_MS / 1000} s`
      : code === 0
        ? 'did not print a JSON object of names and texts'
        : `exited with code ${code}`
  throw new BridgeError('CONFIG_INVALID', `The headersHelper of server '${name}' ${why}`, {
    hint: 'Run it in a terminal, and correct it or the entry.',
  })
}
