import { describe, expect, test } from 'vitest'
import type { ServerDefinition } from '../config/server-definition.ts'
import { createRedactor, redactStart } from './redact.ts'

const source = { client: 'test', file: 'test.json' }

const stdio: ServerDefinition = {
  name: 'db',
  source,
  transport: {
    type: 'stdio',
    command: '/opt/vendor/bin/serve',
    args: ['--key=sk-12345678', 'postgres://bob:p%40ssw0rd@db.internal/main?sslcert=abcdef', '-v'],
    env: {
      TOKEN: 'quote"and\\slash',
      DEBUG: '1',
      PEM: '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nshort\n-----END KEY-----',
      LONG: 'tok-aaaa-bbbb',
      SHORTER: 'tok-aaaa',
    },
  },
}

const remote: ServerDefinition = {
  name: 'web',
  source,
  transport: {
    type: 'http',
    url: 'https://example.com/mcp?api_key=q1w2e3r4',
    headers: { Authorization: 'Bearer eyJhbGciOi' },
  },
}

describe('redactor', () => {
  test.each([
    ['an argument', 'bad option --key=sk-12345678'],
    ['the value of an option', 'key sk-12345678 was refused'],
    ['a password in a URL', 'authentication failed for bob with p@ssw0rd'],
    ['a password in a URL, as written', 'url had p%40ssw0rd in it'],
    ['a parameter in a URL', 'no such file: abcdef'],
    ['an environment variable', 'token quote"and\\slash refused'],
    ['an environment variable inside JSON', JSON.stringify({ token: 'quote"and\\slash' })],
    ['an environment variable inside a URL', `GET /?t=${encodeURIComponent('quote"and\\slash')}`],
    ['one line of a key', 'near MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'],
    ['the command', 'sh: /opt/vendor/bin/serve: broken'],
  ])('takes out %s', (_what, text) => {
    const shown = createRedactor(stdio.transport)(text)
    expect(shown).toContain('[redacted]')
    expect(shown).not.toMatch(/sk-1234|ssw0rd|abcdef|slash|MIIE|vendor/)
  })

  test('takes out the parts of a header and of a URL', () => {
    const shown = createRedactor(remote.transport)(
      '401 for eyJhbGciOi at https://example.com/mcp?api_key=q1w2e3r4, key q1w2e3r4',
    )
    expect(shown).toBe('401 for [redacted] at [redacted], key [redacted]')
  })

  test('knows a secret that a cut goes through', () => {
    const shown = redactStart(createRedactor(stdio.transport), `${'x'.repeat(95)}tok-aaaa-bbbb`, 100)
    expect(shown).toBe(`${'x'.repeat(95)}[reda`)
  })

  test('takes out the longer of two secrets as a whole', () => {
    expect(createRedactor(stdio.transport)('tok-aaaa-bbbb')).toBe('[redacted]')
  })

  test('leaves other text, and values too short to be secrets, as they are', () => {
    const text = 'DEBUG is 1, -v was given, short'
    expect(createRedactor(stdio.transport)(text)).toBe(text)
  })

  test('takes out the working directory', () => {
    const redact = createRedactor({ type: 'stdio', command: 'serve', args: [], env: {}, cwd: '/home/bob/client-x' })
    expect(redact('cannot write /home/bob/client-x/log')).toBe('cannot write [redacted]/log')
  })

  test('takes out who asks and the token in the path of an address, as servers quote them', () => {
    const url = 'https://bob%40corp:p%2Fssword@example.com/s/tok%2Fen-0123456789/mcp'
    const redact = createRedactor({ type: 'http', url, headers: {} })
    const basic = Buffer.from('bob@corp:p/ssword').toString('base64')
    for (const text of ['bob%40corp', 'bob@corp', 'p/ssword', 'tok%2Fen-0123456789', 'tok/en-0123456789', basic])
      expect(redact(`Cannot POST ${text}!`)).toBe('Cannot POST [redacted]!')
  })
})
