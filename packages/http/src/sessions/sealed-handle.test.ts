// This file verifies that a session handle can be read with the key, by its user, until it expires, and in no other
// form.
import { expect, it } from 'vitest'
import { HandleSeal } from './sealed-handle.ts'

const KEY = 'k'.repeat(32)
const CONTENT = {
  session: '0123456789abcdef01234567',
  place: { name: 'sandbridge-89abcdef01234567', uid: '5e0b1c1e-7f6a-4f0e-9d7c-0123456789ab' },
  expiresAt: 2_000_000_000_000,
}
const NOW = CONTENT.expiresAt - 1
const seal = new HandleSeal(KEY, 'sandboxes')
const handle = seal.seal(CONTENT, 'ann')

it('a sealed handle is read by every replica with the same key', () => {
  expect(new HandleSeal(KEY, 'sandboxes').open(handle, 'ann', NOW)).toEqual(CONTENT)
  expect(handle).toMatch(/^[\w-]{94}$/)
  // Sealing the same content twice gives different handles.
  expect(seal.seal(CONTENT, 'ann')).not.toBe(handle)
})

it('a sealed handle is unknown to another user, to the owner of the bridge, with another key, and in another namespace', () => {
  expect(seal.open(handle, 'bob', NOW)).toBeUndefined()
  expect(seal.open(handle, undefined, NOW)).toBeUndefined()
  expect(new HandleSeal('l'.repeat(32), 'sandboxes').open(handle, 'ann', NOW)).toBeUndefined()
  expect(new HandleSeal(KEY, 'others').open(handle, 'ann', NOW)).toBeUndefined()
  const owned = seal.seal(CONTENT, undefined)
  expect(seal.open(owned, undefined, NOW)).toEqual(CONTENT)
  expect(seal.open(owned, 'null', NOW)).toBeUndefined()
})

it('a sealed handle of an older key is known while that key is among those of the replica, and new handles are of the first', () => {
  const next = 'n'.repeat(32)
  const both = new HandleSeal(`${next} ${KEY}`, 'sandboxes')
  expect(both.open(handle, 'ann', NOW)).toEqual(CONTENT)
  const renewed = both.seal(CONTENT, 'ann')
  expect(new HandleSeal(next, 'sandboxes').open(renewed, 'ann', NOW)).toEqual(CONTENT)
  expect(seal.open(renewed, 'ann', NOW)).toBeUndefined()
  expect(new HandleSeal(next, 'sandboxes').open(handle, 'ann', NOW)).toBeUndefined()
})

it('a sealed handle is unknown once it has expired', () => {
  expect(seal.open(handle, 'ann', CONTENT.expiresAt)).toBeUndefined()
})

it('a sealed handle with any bit changed, cut, or written otherwise is unknown', () => {
  const bytes = Buffer.from(handle, 'base64url')
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const forged = Buffer.from(bytes)
    forged[bit >> 3]! ^= 1 << (bit & 7)
    expect(seal.open(forged.toString('base64url'), 'ann', NOW)).toBeUndefined()
  }
  const wrong = [
    '',
    handle.slice(1),
    `${handle}A`,
    `${handle}=`,
    ` ${handle}`,
    bytes.toString('base64'),
    'x'.repeat(94),
  ]
  for (const text of wrong.filter((one) => one !== handle)) expect(seal.open(text, 'ann', NOW)).toBeUndefined()
})
