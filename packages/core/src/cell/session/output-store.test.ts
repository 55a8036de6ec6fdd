import { expect, it } from 'vitest'
import { BridgeError } from '../../errors.ts'
import { KeptTexts, TEXT_OVERHEAD_BYTES } from './kept-text.ts'
import { OutputStore } from './output-store.ts'

const texts = () => new KeptTexts({ memoryBytes: 64 * 1024 * 1024, folder: '/nowhere' })

it('the output of a cell is found by number, by URI and as the last one', () => {
  const store = new OutputStore(texts())
  expect(store.keep(1, 'one')).toBe(`sandbridge://output/${store.sessionId}/1`)
  store.keep(2, 'two')
  expect(store.keep(3, '')).toBeUndefined()
  expect(store.read(1)).toBe('one')
  expect(store.read(undefined)).toBe('two')
  expect(store.cellOf(store.uriOf(2))).toBe(2)
})

it('the oldest output is dropped first, and the newest never', () => {
  const store = new OutputStore(texts(), 2 * (4 + TEXT_OVERHEAD_BYTES))
  for (const cell of [1, 2, 3]) store.keep(cell, 'xxxx')
  expect(() => store.read(1)).toThrow(/The output of cell 1 is not stored/)
  expect(store.read(2)).toBe('xxxx')
  store.keep(4, 'y'.repeat(5_000))
  expect(() => store.read(3)).toThrow()
  expect(store.read(4).length).toBe(5_000)
})

it('the newest 1,000 outputs are kept, however short they are', () => {
  const store = new OutputStore(texts())
  for (let cell = 1; cell <= 1_001; cell += 1) store.keep(cell, 'x')
  expect(() => store.read(1)).toThrow(/The output of cell 1 is not stored/)
  expect(store.read(2)).toBe('x')
})

it('the error for an unknown output says which outputs there are', () => {
  const store = new OutputStore(texts())
  expect(() => store.read(undefined)).toThrow('No cell has output yet')
  store.keep(7, 'x')
  const error = (() => {
    try {
      return store.read(8)
    } catch (thrown) {
      return thrown
    }
  })()
  expect(BridgeError.isInstance(error) && error.hint).toMatch(/cells 7/)
})

it('the error for an unknown output names every output there is, as ranges', () => {
  const store = new OutputStore(texts())
  const hint = () => {
    try {
      return store.read(9_999)
    } catch (thrown) {
      return BridgeError.isInstance(thrown) ? thrown.hint : undefined
    }
  }
  for (const cell of [1, 2, 3, 5, 7, 8]) store.keep(cell, 'x')
  expect(hint()).toMatch(/^Kept: cells 1–3, 5, 7–8\. Run/)
  for (let cell = 10; cell <= 200; cell += 2) store.keep(cell, 'x')
  expect(hint()).toMatch(/^Kept: older ones, and cells 162, 164, .*, 198, 200\. Run/)
})

it('the output store recognises its own URIs only', () => {
  const [store, other] = [new OutputStore(texts()), new OutputStore(texts())]
  for (const uri of [
    other.uriOf(1),
    `${store.uriOf(1)}/..`,
    `${store.uriOf(1)}x`,
    'sandbridge://output/',
    'file:///etc/passwd',
  ])
    expect(store.cellOf(uri)).toBeUndefined()
})

it('slices of an output make up the whole and split no character', () => {
  const store = new OutputStore(texts())
  const text = `x${'🚀'.repeat(3_000_000)}`
  store.keep(1, text)
  const slices: string[] = []
  for (let next: number | undefined = 0; next !== undefined;) {
    const slice = store.slice(1, next)
    slices.push(slice.text)
    next = slice.next
  }
  expect(slices.length).toBe(2)
  expect(slices.join('') === text).toBe(true)
  expect(/\p{Surrogate}/u.test(slices[0]!)).toBe(false)
})
