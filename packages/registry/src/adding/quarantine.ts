// Starts a server before it is added, in an empty folder and with no user, lists its tools, and stops it.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ClientContext } from '@sandbridge/core/config/settings'
import { expandTransport, toServerBody } from '@sandbridge/core/config/entries'
import type { RemoteServer, ServerDefinition, StdioServer } from '@sandbridge/core/config/entries'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { Log } from '@sandbridge/core/util'
import { type UpstreamJail, UpstreamSet, type UpstreamTool } from '@sandbridge/core/upstream'
import { asPrompt } from './added-servers.ts'
import type { Addition } from './plan-addition.ts'

/** The package may have to be downloaded first. */
const START_TIMEOUT_MS = 300_000

interface QuarantineOptions {
  clientInfo: { name: string; version: string }
  log: Log
  /** Of the client that adds it. */
  context: ClientContext
  /** The user's answers, by input id. */
  answers: ReadonlyMap<string, string>
  /** Where jails are made. */
  jail: UpstreamJail
  signal?: AbortSignal | undefined
}

/** Returns its tools. @throws BridgeError SERVER_REFUSED when its definition is invalid, and the error of its start */
export async function tryServer(addition: Addition, options: QuarantineOptions): Promise<UpstreamTool[]> {
  const definition = definitionOf(addition)
  const { clientInfo, log, context, answers, jail, signal } = options
  const folder = await mkdtemp(path.join(tmpdir(), 'sandbridge-try-'))
  const upstreams = new UpstreamSet({
    definitions: [definition],
    clientInfo,
    log,
    context: { ...context, cwd: folder },
    startTimeoutMs: START_TIMEOUT_MS,
    jail,
    resolveTransport: () => filledIn(addition, { answers, context: { ...context, cwd: folder } }),
  })
  try {
    return await upstreams.listTools(definition.name, signal)
  } finally {
    await upstreams.close()
    await rm(folder, { recursive: true, force: true }).catch(() => {})
  }
}

/** The transport that is tried, with the user's answers. @throws BridgeError CONFIG_INVALID for a missing one */
export function filledIn(
  addition: Addition,
  { answers, context }: Pick<QuarantineOptions, 'answers' | 'context'>,
): StdioServer | RemoteServer {
  const input = (id: string): string | undefined => answers.get(id)
  const { env, home, cwd: workspaceFolder } = context
  return expandTransport(definitionOf(addition), { env, home, workspaceFolder, input })
}

/** The definition that discovery would make of the entry. */
export function definitionOf({ name, entry, inputs }: Addition): ServerDefinition {
  const made = toServerBody({ ...entry, inputs: inputs.map(asPrompt) })
  if ('reason' in made) throw new BridgeError('SERVER_REFUSED', `This server cannot be added: its entry ${made.reason}`)
  return { name, ...made.body, isPublishers: true, source: { client: 'registry', file: '' } }
}

/**
 * Changes between two lists of a server's tools, such as `+ create_issue`: new, removed (`-`), or changed description
 * or schema (`~`).
 */
export function toolChanges(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted()
  return names.flatMap((name) => {
    if (!Object.hasOwn(before, name)) return [`+ ${name}`]
    if (!Object.hasOwn(after, name)) return [`- ${name}`]
    return before[name] === after[name] ? [] : [`~ ${name}`]
  })
}
