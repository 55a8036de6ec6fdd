// The methods for memories: small values that a cell stores for the user. The store decides what may be stored.
import * as z from 'zod'
import { method, tellingMethod } from '@sandbridge/core/calls/methods'
import type { UserState } from '@sandbridge/core/parts'
import { MemoryStore } from './memory-store.ts'

// A sanity limit; the store reports the real limit of a key.
const key = z.string().max(100_000)

/** What a list shows of a memory. */
const namesOf = ({ key: name, metadata }: { key: string; metadata?: unknown }): string[] =>
  metadata === undefined ? [name] : [name, JSON.stringify(metadata)]

const memoriesOf = ({ store }: UserState): MemoryStore => new MemoryStore(store)

export const memoryMethods = {
  save_memory: method(
    z.object({
      key,
      value: z.string(),
      metadata: z.record(z.string(), z.unknown()).nullish(),
      revision: z.string().max(100).nullish(),
    }),
    async ({ key: wanted, value, metadata, revision }, { state, flow }) => {
      await flow?.keeps(value, ...namesOf({ key: wanted, metadata: metadata ?? undefined }))
      return (await memoriesOf(state).save(wanted, value, metadata ?? undefined, revision ?? undefined)) ?? null
    },
  ),

  /** The value as JSON text, or null, with its revision. */
  load_memory: tellingMethod(z.object({ key }), async ({ key: wanted }, { state, flow }) => {
    const { value = null, revision } = await memoriesOf(state).load(wanted)
    if (value !== null) await flow?.opens('memories', [value])
    return { value, revision }
  }),

  list_memories: tellingMethod(z.object({}), async (_, { state, flow }) => {
    const all = await memoriesOf(state).list()
    await flow?.lists('memories', all.flatMap(namesOf))
    return all
  }),

  delete_memory: method(z.object({ key }), ({ key: wanted }, { state }) => memoriesOf(state).remove(wanted)),
}
