// Apps of servers: HTML that shows the results of a tool (MCP Apps). Keeps, for one session, the page and the newest
// call of each tool that has one, until the client asks for it. Neither reaches the sandbox.
import type { CatalogTool } from '@sandbridge/core/calls/catalog'
import { serverMethod } from '@sandbridge/core/calls/catalog'
import { messageOf } from '@sandbridge/core/errors.ts'
import type { ToolResult } from '@sandbridge/core/upstream'
import type { Upstreams } from '@sandbridge/core/upstream'
import { APP_TYPE } from '@sandbridge/core/parts'
import { fieldsOf } from '@sandbridge/core/util/json/json.ts'
import type { Session } from '@sandbridge/core/cell'
import type { CellApps } from '@sandbridge/core/calls/methods'
import type { SessionFlow } from '@sandbridge/core/parts'
import { observed } from '@sandbridge/core/calls'
import type { CellGate } from '@sandbridge/core/parts'

/** Of the HTML of one app; an app is a single file with its libraries. */
export const MAX_PAGE_CHARS = 8 << 20
/** Of the arguments and the result of one call, as JSON. */
const MAX_CALL_CHARS = 4 << 20
/** Of everything kept for a session. The oldest app makes room. */
const MAX_KEPT_CHARS = 24 << 20

/** The cell that called the tool. */
type Caller = Parameters<typeof observed>[0] & {
  permissions: Pick<CellGate, 'admit' | 'refuseDenied'> | undefined
  upstreams: Pick<Upstreams, 'readResource'>
  notes: Set<string>
  flow: SessionFlow | undefined
  signal: AbortSignal
}

export interface ServerApp {
  server: string
  html: string
  /** The resource that has the page, and the tool that reads it. */
  uri: string
  reading: CatalogTool
  args: Readonly<Record<string, unknown>>
  result: ToolResult
}

export class ServerApps implements CellApps {
  /** By server and tool, the most recently called last. */
  readonly #kept = new Map<string, ServerApp & { chars: number }>()
  /** Pages that are being read, and those that a cell could not read: it does not ask for them again. */
  readonly #reading = new Map<string, { page: Promise<string>; cell: object; hasFailed: boolean }>()

  /** @returns undefined when the tool has no app, or was not called in this session */
  find(name: string): ServerApp | undefined {
    return this.#kept.get(name)
  }

  names(): string[] {
    return [...this.#kept.keys()]
  }

  /** Keeps a call of a tool that has an app, and tells the model so. Never rejects. */
  async keep(tool: CatalogTool, args: ServerApp['args'], result: ToolResult, caller: Caller): Promise<void> {
    const { appUri } = tool.definition
    if (appUri === undefined || result.isError === true) return
    const name = `${tool.server}.${tool.name}`
    try {
      const reading = readingOf(tool)
      const callChars = JSON.stringify([args, result]).length
      if (callChars > MAX_CALL_CHARS)
        throw new Error(`the result has ${callChars} characters, at most ${MAX_CALL_CHARS}`)
      // The address is the server's own: its list of tools has it.
      caller.flow?.returned({ server: tool.server, name: 'list_tools' }, appUri)
      // Rules may have changed since the page was read.
      caller.permissions?.refuseDenied(reading, { uri: appUri })
      const html = await this.#page(tool, appUri, caller)
      this.#add(name, { server: tool.server, html, uri: appUri, reading, args, result, chars: callChars + html.length })
      const shown = JSON.stringify(name)
      caller.notes.add(`${name} has an app: show_app(result_of=${shown}) shows its newest result to the user.`)
    } catch (error) {
      // What is kept of it is not the newest result, or may no longer be shown.
      this.#kept.delete(name)
      caller.notes.add(`${name} has an app, which cannot be shown: ${messageOf(error)}`)
    }
  }

  #add(name: string, app: ServerApp & { chars: number }): void {
    this.#kept.delete(name)
    this.#kept.set(name, app)
    let chars = 0
    for (const [other, one] of [...this.#kept].toReversed()) {
      chars += one.chars
      if (chars > MAX_KEPT_CHARS && other !== name) this.#kept.delete(other)
    }
  }

  async #page(tool: CatalogTool, uri: string, caller: Caller): Promise<string> {
    const kept = this.#kept.get(`${tool.server}.${tool.name}`)
    // Tool c of server a.b and tool b.c of server a have one name here.
    if (kept?.uri === uri && kept.server === tool.server) return kept.html
    const key = JSON.stringify([tool.server, uri])
    const earlier = this.#reading.get(key)
    const isUsable = earlier && (earlier.cell === caller.notes || !earlier.hasFailed)
    const reading = isUsable ? earlier : { page: readPage(tool, uri, caller), cell: caller.notes, hasFailed: false }
    this.#reading.set(key, reading)
    try {
      return await reading.page
    } catch (error) {
      reading.hasFailed = !caller.signal.aborted
      throw error
    } finally {
      if (!reading.hasFailed && this.#reading.get(key) === reading) this.#reading.delete(key)
    }
  }
}

const ofSessions = new WeakMap<Session, ServerApps>()

/** The apps of servers that a session's calls have opened. */
export function appsOf(session: Session): ServerApps {
  const apps = ofSessions.get(session) ?? new ServerApps()
  ofSessions.set(session, apps)
  return apps
}

const readingOf = (tool: CatalogTool): CatalogTool => serverMethod(tool.server, tool.serverAlias, '_read_resource')!

/** @throws BridgeError when a rule or the user denies reading, or the server fails; Error when it sends no app */
async function readPage(tool: CatalogTool, uri: string, caller: Caller): Promise<string> {
  const { permissions, upstreams, flow, signal } = caller
  const admitted = await permissions?.admit(readingOf(tool), { uri }, { signal })
  const call = { kind: 'resource', server: tool.server, name: uri, ...admitted, args: {} } as const
  const { contents } = await observed(caller, call, ({ meta }) =>
    upstreams.readResource(tool.server, uri, signal, meta),
  ).catch((error) => {
    // The note about it is what the server said.
    flow?.returned({ server: tool.server, name: 'read_resource' }, messageOf(error))
    throw error
  })
  const { mimeType, text, blob } = fieldsOf(contents[0])
  if (mimeType !== APP_TYPE) throw new Error(`the server's resource is not of the type ${APP_TYPE}`)
  const html = typeof text === 'string' ? text : typeof blob === 'string' ? Buffer.from(blob, 'base64').toString() : ''
  if (html === '') throw new Error("the server's resource is empty")
  if (html.length > MAX_PAGE_CHARS) throw new Error(`it has more than ${MAX_PAGE_CHARS} characters`)
  return html
}
