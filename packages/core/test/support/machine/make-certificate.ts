// Makes a self-signed certificate for this machine, of Node's cryptography and a few lines of DER: not every machine
// has openssl.
import { createSign, generateKeyPairSync, randomBytes } from 'node:crypto'

export interface Pair {
  cert: string
  key: string
}

const DAY_MS = 86_400_000

/** One value of DER: its tag, its length, its content. */
function der(tag: number, ...parts: (Buffer | string)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)))
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts)
const objectId = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const bits = (content: Buffer) => der(0x03, Buffer.from([0]), content)
const yes = der(0x01, Buffer.from([0xff]))
const utcTime = (ms: number) => der(0x17, new Date(ms).toISOString().replaceAll(/^\d\d|[-:T]|\.\d+/g, ''))

const lines = (content: Buffer) => content.toString('base64').match(/.{1,64}/g) ?? []

const ECDSA_SHA256 = sequence(objectId('2a8648ce3d040302'))
const COMMON_NAME = objectId('550403')
const BASIC_CONSTRAINTS = objectId('551d13')
const OTHER_NAMES = objectId('551d11')

/** @param name its common name, to distinguish certificates */
export function makeCertificate(name = 'localhost'): Pair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const owner = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, name))))
  const extensions = [
    sequence(BASIC_CONSTRAINTS, yes, der(0x04, sequence(yes))),
    sequence(OTHER_NAMES, der(0x04, sequence(der(0x82, 'localhost'), der(0x87, Buffer.from([127, 0, 0, 1]))))),
  ]
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1]), randomBytes(8)),
    ECDSA_SHA256,
    owner,
    // Valid before now: the clocks of two processes may differ.
    sequence(utcTime(Date.now() - DAY_MS), utcTime(Date.now() + 2 * DAY_MS)),
    owner,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  )
  const cert = sequence(signed, ECDSA_SHA256, bits(createSign('SHA256').update(signed).sign(privateKey)))
  return {
    cert: ['-----BEGIN CERTIFICATE-----', ...lines(cert), '-----END CERTIFICATE-----', ''].join('\n'),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}
