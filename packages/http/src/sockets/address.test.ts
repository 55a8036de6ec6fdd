import { expect, it } from 'vitest'
import { parseAddress } from './address.ts'

it.each([
  ['8080', '127.0.0.1', 8080],
  ['0', '127.0.0.1', 0],
  ['localhost:80', 'localhost', 80],
  ['0.0.0.0:65535', '0.0.0.0', 65_535],
  ['[::1]:8080', '::1', 8080],
  ['my-machine.local:1', 'my-machine.local', 1],
])('the address %s is parsed', (text, host, port) => {
  expect(parseAddress(text)).toEqual({ host, port })
})

it.each(['', ':', ':80', '65536', '-1', '80.5', 'localhost', '::1:80', 'http://localhost:80', 'a b:80', '0x50'])(
  '%j is not a valid address',
  (text) => {
    expect(() => parseAddress(text)).toThrow(/is not a valid address/)
  },
)
