import { expect, it } from 'vitest'
import { KeptOrigins } from './kept-origins.ts'
import type { Document, Store } from './store.ts'

it('keeps the origins of the 10,000 newest contents', async () => {
  let text: string | undefined
  const document: Document = {
    place: 'memory',
    read: () => Promise.resolve(text),
    update: async (change) => void (text = await change(() => Promise.resolve(text))),
  }
  const kept = new KeptOrigins({ document: () => document } as unknown as Store)
  await kept.keep(Array.from({ length: 10_000 }, (_, at) => [`content ${at}`, ['mail']] as const))
  expect(await kept.of(['content 0', 'content 9999'])).toEqual([['mail'], ['mail']])
  // One that is kept again is new again.
  await kept.keep([
    ['content 0', ['web']],
    ['one more', ['web']],
  ])
  expect(await kept.of(['content 0', 'content 1', 'content 9999', 'one more'])).toEqual([
    ['mail', 'web'],
    undefined,
    ['mail'],
    ['web'],
  ])
})
