// Journals the effects of a workflow's run: each call of a tool that is not known to be read-only, before it is made
// and after its reply. A resumed run gets these replies again and makes no call twice.
import { appendFile, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import * as z from 'zod'
import type { Catalog } from '../../../calls/catalog/catalog.ts'
import { BridgeError } from '../../../errors.ts'
import { makePrivateFolder } from '../../../util/files/private-folder.ts'
import { isRecord, parseJson } from '../../../util/json/json.ts'
import { sortedJson } from '../../../util/json/sorted-json.ts'
import type { ToolResult, Upstreams } from '../../../upstream/upstream.ts'
import { keyOf } from './fixture.ts'
import { tappedUpstreams, type ToolCall } from './tapped-upstreams.ts'

const head = z.object({ version: z.int(), args: z.record(z.string(), z.unknown()), startedAt: z.string() })
const entry = z.object({ place: z.string(), result: z.unknown().optional(), refused: z.literal(true).optional() })

/** Errors of calls that the server did not carry out. */
const NOT_MADE = new Set(['UPSTREAM_AUTH_REQUIRED', 'UPSTREAM_LINK_REQUIRED', 'TOOL_FAILED'])

interface Effect {
  /** Missing for a call that was sent and has no reply. */
  result?: unknown
}

/** What becomes of a call that was sent in the run that failed and never answered; undefined: the run fails there. */
type Decision = 'again' | { value: unknown } | undefined

/** Asks for each such call. */
export type DecideUnanswered = (call: ToolCall) => Decision | Promise<Decision>

export interface EarlierRun {
  version: number
  args: Record<string, unknown>
  startedAt: string
  /** By position. */
  effects: Map<string, Effect>
}

export class RunJournal {
  readonly #file: string

  constructor(stateDir: string, workflow: string) {
    this.#file = path.join(stateDir, '.sandbridge', 'workflows', workflow, 'unfinished.jsonl')
  }

  /** The last run, if it failed; otherwise undefined. A truncated line is skipped. */
  async earlier(): Promise<EarlierRun | undefined> {
    const text = await readFile(this.#file, 'utf8').catch(() => '')
    const [first = '', ...lines] = text.split('\n')
    const about = head.safeParse(parseJson(first))
    if (!about.success) return undefined
    const effects = new Map<string, Effect>()
    for (const line of lines) {
      const { data } = entry.safeParse(parseJson(line))
      if (data?.refused) effects.delete(data.place)
      else if (data) effects.set(data.place, data.result === undefined ? {} : { result: data.result })
    }
    return { ...about.data, effects }
  }

  /** Deletes the previous journal, unless its run is resumed. */
  async begin(version: number, args: Record<string, unknown>, resumed?: EarlierRun): Promise<void> {
    if (resumed) {
      // The line that a killed run was writing ends here, and not in the next one.
      const text = await readFile(this.#file, 'utf8')
      if (!text.endsWith('\n')) await appendFile(this.#file, '\n')
      return
    }
    await makePrivateFolder(path.dirname(this.#file))
    await rm(this.#file, { force: true })
    await this.#add({ version, args, startedAt: new Date().toISOString() })
  }

  /** The run succeeded. */
  async end(): Promise<void> {
    await rm(this.#file, { force: true })
  }

  /** Upstreams whose effects are journaled, and replayed from the earlier run where it has them. */
  watch(
    upstreams: Upstreams,
    catalog: Pick<Catalog, 'findTool'>,
    resumed?: EarlierRun,
    decide: DecideUnanswered = () => undefined,
  ): Upstreams {
    const counts = new Map<string, number>()
    return tappedUpstreams(upstreams, async (call, send) => {
      const { definition } = await catalog.findTool(call.server, call.tool)
      if (definition.annotations?.readOnlyHint === true) return send()
      const key = keyOf(call)
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      const place = sortedJson([count, key])
      const before = resumed?.effects.get(place)
      if (before && 'result' in before) return before.result as ToolResult
      if (before) {
        const decision = await decide(call)
        if (decision === undefined) throw unknownEffect(call.server, call.tool)
        if (decision !== 'again') {
          const result = resultOf(decision.value)
          await this.#add({ place, result })
          return result
        }
      }
      await this.#add({ place })
      try {
        const result = await send()
        // A call that its tool refused is made again.
        await this.#add(result.isError === true ? { place, refused: true } : { place, result })
        return result
      } catch (error) {
        if (BridgeError.isInstance(error) && NOT_MADE.has(error.code)) await this.#add({ place, refused: true })
        throw error
      }
    })
  }

  async #add(line: object): Promise<void> {
    await appendFile(this.#file, `${JSON.stringify(line)}\n`, { mode: 0o600, flush: true })
  }
}

/**
 * A resumed run must match the failed one, because its calls are identified by their arguments.
 * @throws BridgeError STATE_REFUSED
 */
export function checkResumable(
  earlier: EarlierRun | undefined,
  version: number,
  args: Record<string, unknown>,
): EarlierRun {
  const refuse = (reason: string): BridgeError =>
    new BridgeError('STATE_REFUSED', `There is nothing to resume: ${reason}`, { hint: 'Run it without --resume.' })
  if (!earlier) throw refuse('the last run ended well, or there was none')
  if (earlier.version !== version)
    throw refuse(`the run that failed was of version ${earlier.version}, and this is ${version}`)
  if (sortedJson(earlier.args) !== sortedJson(args)) throw refuse('the run that failed had other arguments')
  return earlier
}

/** A result as a server sends it. */
function resultOf(value: unknown): ToolResult {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return { content: [{ type: 'text', text }], ...(isRecord(value) && { structuredContent: value }) }
}

function unknownEffect(server: string, tool: string): BridgeError {
  return new BridgeError(
    'CANCELLED',
    `${server}.${tool} was called in the run that failed and never answered: it may or may not have taken effect`,
    {
      hint: 'Look at what it did. Then use --resume with --unanswered again to make the call again, or with --unanswered and a JSON value to take that as its answer.',
    },
  )
}
