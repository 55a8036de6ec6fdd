// The recorded responses of a workflow's run, its fixture: it can run against them without calling tools.
import * as z from 'zod'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { type Document, JsonDocument, type Store } from '@sandbridge/core/util/stores'
import { sortedJson } from '@sandbridge/core/util/json'
import type { CallOptions, ToolResult, Upstreams } from '@sandbridge/core/upstream'

const MAX_FIXTURE_CHARS = 16 << 20

const recorded = z.object({
  version: z.int(),
  args: z.record(z.string(), z.unknown()),
  calls: z.array(
    z.object({ server: z.string(), tool: z.string(), args: z.record(z.string(), z.unknown()), result: z.unknown() }),
  ),
})

export type Fixture = z.infer<typeof recorded>

export class FixtureFile {
  readonly #document: Document
  readonly #replies: JsonDocument<Fixture | undefined>

  constructor(store: Store, workflow: string) {
    this.#document = store.document(`workflows/${workflow}/replies.json`)
    this.#replies = new JsonDocument<Fixture | undefined>({
      document: this.#document,
      empty: () => undefined,
      parse: (json) => recorded.safeParse(json).data,
      damaged: {
        code: 'STATE_DAMAGED',
        name: 'The recorded responses',
        hint: 'Run the workflow with --record to record them again.',
      },
    })
  }

  /** @returns undefined if none are recorded @throws BridgeError STATE_DAMAGED */
  read(): Promise<Fixture | undefined> {
    return this.#replies.read()
  }

  /** @throws BridgeError STATE_REFUSED when it is too large */
  async write(fixture: Fixture): Promise<void> {
    const text = JSON.stringify(fixture)
    if (text.length > MAX_FIXTURE_CHARS) {
      throw new BridgeError('STATE_REFUSED', `The replies of this run are larger than ${MAX_FIXTURE_CHARS >> 20} MiB`, {
        hint: 'Record a run with smaller arguments.',
      })
    }
    await this.#document.update(() => Promise.resolve(text))
  }
}

/** Records every reply in `calls`. */
export function recording(upstreams: Upstreams, calls: Fixture['calls']): Upstreams {
  return tappedUpstreams(upstreams, async (call, send) => {
    const result = await send()
    calls.push({ ...call, result })
    return result
  })
}

/** Answers from the fixture and calls no tool. Repeated calls get their replies in the recorded order. */
export function replaying(upstreams: Upstreams, { calls }: Fixture): Upstreams {
  const left = new Map<string, unknown[]>()
  for (const { result, ...call } of calls) left.set(keyOf(call), [...(left.get(keyOf(call)) ?? []), result])
  return tappedUpstreams(upstreams, (call) => {
    const results = left.get(keyOf(call)) ?? []
    // The last reply is used for all later calls.
    const result = results.length > 1 ? results.shift() : results[0]
    if (result !== undefined) return Promise.resolve(result as ToolResult)
    const message = `No reply of ${call.server}.${call.tool} was recorded for these arguments`
    const hint = 'Record the replies again: sandbridge run-workflow NAME --record'
    throw new BridgeError('STATE_NOT_FOUND', message, { hint })
  })
}

function keyOf({ server, tool, args }: ToolCall): string {
  return sortedJson([server, tool, args])
}

interface ToolCall {
  server: string
  tool: string
  args: Record<string, unknown>
}

type CallTool = (call: ToolCall, send: () => Promise<ToolResult>) => Promise<ToolResult>

function tappedUpstreams(upstreams: Upstreams, callTool: CallTool): Upstreams {
  return new Proxy(upstreams, {
    get(target, key) {
      if (key === 'callTool') {
        return (server: string, tool: string, args: Record<string, unknown>, options?: CallOptions) =>
          callTool({ server, tool, args }, () => target.callTool(server, tool, args, options))
      }
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
