// A store that keeps nothing.
import type { Store } from '../../../src/util/stores/store.ts'

export function forgetfulStore(): Store {
  const read = () => Promise.resolve(undefined)
  const document = {
    place: 'nowhere',
    read,
    update: async (change: (from: typeof read) => unknown) => void (await change(read)),
  }
  return { document: () => document } as unknown as Store
}
