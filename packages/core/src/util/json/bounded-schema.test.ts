import { expect, it } from 'vitest'
import * as z from 'zod'
import { boundedList, boundedRecord } from './bounded-schema.ts'

const wrong = Array.from({ length: 100_000 }, (_, index) => index)

it('a bounded schema checks no item of a list that is too long', () => {
  let looks = 0
  const list = boundedList(
    z.unknown().refine(() => {
      looks += 1
      return false
    }),
    10,
  )
  expect(list.safeParse(wrong).error?.issues).toMatchObject([{ message: 'more than 10 items' }])
  expect(looks).toBe(0)
  expect(list.safeParse([1, 2]).error?.issues).toHaveLength(2)
  expect(boundedList(z.number(), 3).parse([1, 2, 3])).toEqual([1, 2, 3])
})

it('a bounded schema checks no value of an object that has too many keys', () => {
  const record = boundedRecord(z.string(), 10, 'named arguments')
  expect(record.safeParse(Object.fromEntries(wrong.entries())).error?.issues).toMatchObject([
    { message: 'more than 10 named arguments' },
  ])
  expect(record.parse({ a: 'b' })).toEqual({ a: 'b' })
  expect(record.safeParse(undefined).success).toBe(false)
  expect(record.safeParse([]).success).toBe(false)
})
