import { expect, it } from 'vitest'
import { whoMakesRoom } from './upstream-set.ts'

const [ann, bob] = [{}, {}]
const idle = (name: string, lastUsed: number) => ({ name, isIdle: true, lastUsed })
const busy = (name: string) => ({ name, isIdle: false, lastUsed: 0 })
type Row = [ReturnType<typeof idle>, object[]]

const chosen = (newcomer: object, rows: Row[]): string | undefined =>
  whoMakesRoom(new Map(rows.map(([one, users]) => [one, new Set(users)])), new Set([newcomer]))?.name

it('the idle server that was used least recently ends', () => {
  const rows: Row[] = [
    [busy('busy'), [ann]],
    [idle('new', 2), [ann]],
    [idle('old', 1), [ann]],
  ]
  expect(chosen(ann, rows)).toBe('old')
})

it('one that nobody uses any more ends first', () => {
  expect(
    chosen(ann, [
      [idle('used', 1), [ann]],
      [idle('left', 2), []],
    ]),
  ).toBe('left')
})

it('a client with many servers has none ended that another one uses, alone or together with it', () => {
  const many: Row[] = [1, 2, 3].map((count) => [busy(`ann ${count}`), [ann]])
  const rows: Row[] = [...many, [idle("bob's", 1), [bob]], [idle('of both', 2), [ann, bob]]]
  expect(chosen(ann, rows)).toBeUndefined()
  // Control: one of its own may end, although it was used later.
  expect(chosen(ann, [...rows, [idle('own', 9), [ann]]])).toBe('own')
})

it('a client with few servers takes the place of one of a client with many', () => {
  const many: Row[] = [1, 2, 3].map((count) => [idle(`ann ${count}`, count), [ann]])
  expect(chosen(bob, [...many, [idle("bob's", 0), [bob]]])).toBe('ann 1')
  // After one of two has ended, ann would have fewer than bob.
  expect(chosen(bob, [...many.slice(0, 2), [busy("bob's"), [bob]]])).toBeUndefined()
})
