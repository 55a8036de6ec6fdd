import { expect, it } from 'vitest'
import { ADDRESS_REFUSED, assertHostAllowed, guardedLookup } from './address-guard.ts'

/** Spellings of 169.254.169.254 (a9fe:a9fe), and as control the same spelling of 93.184.216.34 (5db8:d822). */
const FORMS: [string, string, string][] = [
  ['itself', '169.254.169.254', '93.184.216.34'],
  ['IPv4-compatible', '::a9fe:a9fe', '::5db8:d822'],
  ['IPv4-compatible, in dots', '::169.254.169.254', '::93.184.216.34'],
  ['IPv4-mapped', '::ffff:a9fe:a9fe', '::ffff:5db8:d822'],
  ['IPv4-mapped, written out', '0:0:0:0:0:ffff:169.254.169.254', '0:0:0:0:0:ffff:93.184.216.34'],
  ['IPv4-translated', '::ffff:0:a9fe:a9fe', '::ffff:0:5db8:d822'],
  ['6to4', '2002:a9fe:a9fe::1', '2002:5db8:d822::1'],
  ['NAT64', '64:ff9b::a9fe:a9fe', '64:ff9b::5db8:d822'],
  ['local NAT64, 48 bits', '64:ff9b:1:a9fe:a9:fe00::', '64:ff9b:1:5db8:d8:2200::'],
  ['local NAT64, 56 bits', '64:ff9b:1:12a9:fe:a9fe::', '64:ff9b:1:125d:b8:d822::'],
  ['local NAT64, 64 bits', '64:ff9b:1:1234:a9:fea9:fe00::', '64:ff9b:1:1234:5d:b8d8:2200::'],
  ['local NAT64, 96 bits', '64:ff9b:1:1:2:3:a9fe:a9fe', '64:ff9b:1:1:2:3:5db8:d822'],
  ['a Teredo server', '2001:0:a9fe:a9fe::1', '2001:0:5db8:d822::1'],
  ['a Teredo client', '2001:0:102:304:8000:63bf:5601:5601', '2001:0:102:304:8000:63bf:a247:27dd'],
]

it.each(FORMS)('a metadata address is refused as %s', async (_form, metadata, other) => {
  const bracketed = (address: string) => (address.includes(':') ? `[${address}]` : address)
  expect(() => assertHostAllowed(bracketed(metadata))).toThrow('link-local or serves cloud metadata')
  expect(() => assertHostAllowed(bracketed(other))).not.toThrow()
  expect(await lookUp(metadata)).toMatchObject({ code: ADDRESS_REFUSED })
  expect(await lookUp(other)).toBe(other)
})

it.each(['::', '::1', '2001:db8::a9fe:a9fe', '2a00::169.254.169.254', 'example.com'])(
  'the address %s is allowed',
  (host) => {
    expect(() => assertHostAllowed(host)).not.toThrow()
  },
)

it('an address with a zone is refused', async () => {
  expect(await lookUp('fe80::1%1')).toMatchObject({ code: ADDRESS_REFUSED })
})

/** Names that are addresses resolve to themselves, so no name server is needed. */
function lookUp(host: string): Promise<unknown> {
  return new Promise((done) => guardedLookup(host, {}, (failure, address) => done(failure ?? address)))
}
