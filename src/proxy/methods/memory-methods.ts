// The methods for memories: small values that a cell keeps for the user. Whether one may be kept is the store's to say.
import * as z from 'zod'
import { method } from './method.ts'

// Bounded here only against nonsense; the store says in words how long a key may be.
const key = z.string().max(100_000)

export const memoryMethods = {
  save_memory: method(
    z.object({ key, value: z.string(), metadata: z.record(z.string(), z.unknown()).nullish() }),
    ({ key: wanted, value, metadata }, { memories }) => memories.save(wanted, value, metadata ?? undefined),
  ),

  /** The value as JSON text, or null. */
  load_memory: method(
    z.object({ key }),
    async ({ key: wanted }, { memories }) => (await memories.load(wanted)) ?? null,
  ),

  list_memories: method(z.object({}), (_, { memories }) => memories.list()),

  delete_memory: method(z.object({ key }), ({ key: wanted }, { memories }) => memories.remove(wanted)),
}
