import { describe, expect, it } from 'vitest'
import type { ServerDefinition, StdioServer } from '../entries/server-definition.ts'
import { createRedactor, redactEnd, redactStart } from './redact.ts'

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
  it.each([
    ['an argument', 'bad option --key=sk-12345678'],
    ['the value of an option', 'key sk-12345678 was refused'],
    ['a password in a URL', 'authentication failed for bob with p@ssw0rd'],
    ['a password in a URL, as written', 'url had p%40ssw0rd in it'],
    ['a parameter in a URL', 'no such file: abcdef'],
    ['an environment variable', 'token quote"and\\slash refused'],
    ['an environment variable inside JSON', JSON.stringify({ token: 'quote"and\\slash' })],
    ['an environment variable inside a URL', `GET /?t=${encodeURIComponent('quote"and\\slash')}`],
    ['one line of a key', 'near MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'],
  ])('redaction removes %s', (_what, text) => {
    const shown = createRedactor(stdio.transport)(text)
    expect(shown).toContain('[redacted]')
    expect(shown).not.toMatch(/sk-1234|ssw0rd|abcdef|slash|MIIE/)
  })

  it('redaction removes the parts of a header and of a URL', () => {
    const shown = createRedactor(remote.transport)(
      '401 for eyJhbGciOi at https://example.com/mcp?api_key=q1w2e3r4, key q1w2e3r4',
    )
    expect(shown).toBe('401 for [redacted] at https://example.com/mcp?api_key=[redacted], key [redacted]')
  })

  it('redaction recognises a secret that a cut goes through', () => {
    const shown = redactStart(createRedactor(stdio.transport), `${'x'.repeat(95)}tok-aaaa-bbbb`, 100)
    expect(shown).toBe(`${'x'.repeat(95)}[reda`)
  })

  it('redaction removes the longer of two secrets as a whole', () => {
    expect(createRedactor(stdio.transport)('tok-aaaa-bbbb')).toBe('[redacted]')
  })

  it('redaction leaves other text, and values too short to be secrets, as they are', () => {
    const text = 'DEBUG is 1, -v was given, short'
    expect(createRedactor(stdio.transport)(text)).toBe(text)
  })

  it.each([
    ['a command and its path', 'sh: /opt/vendor/bin/serve: not found'],
    ['a package', 'npm error 404 @scope/some-server@1.2.3 is not in this registry'],
    ['the working directory', 'cannot write /home/bob/client-x/log'],
    ['a path in a variable', 'ENOENT: /home/bob/data/notes.db'],
    ['an address without credentials', 'connect ECONNREFUSED https://api.example.com/v1'],
    ['the host of a remote server', 'getaddrinfo ENOTFOUND mcp.example.com'],
  ])('redaction leaves %s', (_what, text) => {
    const local = createRedactor({
      type: 'stdio',
      command: '/opt/vendor/bin/serve',
      args: ['-y', '@scope/some-server@1.2.3', '--root', '/home/bob'],
      env: { DB: '/home/bob/data/notes.db', API: 'https://api.example.com/v1' },
      cwd: '/home/bob/client-x',
    })
    const web = createRedactor({ type: 'http', url: 'https://mcp.example.com/mcp', headers: {} })
    expect(web(local(text))).toBe(text)
  })

  it('redaction removes the credentials of a proxy that servers are given', () => {
    const env = { HTTPS_PROXY: 'http://alice:wonder-land@proxy.local:3128' }
    const redact = createRedactor({ type: 'stdio', command: 'x', args: [], env: {} }, env)
    expect(redact('via http://alice:wonder-land@proxy.local:3128')).toMatch(/^via http:\/\/\[redacted\]/)
  })

  it('redaction removes the user name and the token in the path of a URL, as servers quote them', () => {
    const url = 'https://bob%40corp:p%2Fssword@example.com/s/tok%2Fen-0123456789/mcp'
    const redact = createRedactor({ type: 'http', url, headers: {} })
    const basic = Buffer.from('bob@corp:p/ssword').toString('base64')
    for (const text of ['bob%40corp', 'bob@corp', 'p/ssword', 'tok%2Fen-0123456789', 'tok/en-0123456789', basic])
      expect(redact(`Cannot POST ${text}!`)).toBe('Cannot POST [redacted]!')
  })

  it('redaction leaves a placeholder of a URL as written, and removes what stands beside or in it', () => {
    const url = 'https://example.com/mcp?a=${KEY_OF_A}&b=${PART_OF}-hunter2&c=${KEY:-letmein-c}'
    const shown = createRedactor({ type: 'http', url, headers: {} })(url)
    expect(shown).toMatch(/a=\$\{KEY_OF_A\}&b=\[redacted\]/)
    expect(shown).not.toMatch(/hunter2|letmein/)
  })

  const secret = 'p+4/ü?secret~of annü>'
  const holder: StdioServer = { type: 'stdio', command: 'serve', args: [], env: { SECRET: secret } }
  const hidden = createRedactor(holder)

  it.each([0, 1, 2, 3, 4])(
    'redaction recognises a base64-encoded secret, %i bytes into it, in both alphabets',
    (before) => {
      for (const after of ['', 'z', '\n}', ' and more']) {
        const bytes = Buffer.from('u:er?'.slice(0, before) + secret + after)
        for (const alphabet of ['base64', 'base64url'] as const) {
          const encoded = bytes.toString(alphabet)
          const shown = hidden(`Basic ${encoded}.`)
          expect(shown).toContain('[redacted]')
          // Except for a few bits, only text of the neighbours is left.
          expect(shown.replace('[redacted]', '').length).toBeLessThan(
            'Basic .'.length + ((before + after.length) / 3) * 4 + 8,
          )
          // Control: the secret can be read in the original.
          expect(Buffer.from(encoded, alphabet).toString()).toContain(secret)
        }
      }
    },
  )

  it('redaction recognises the Basic credentials of a client, however a package encodes them', () => {
    const signIn = { clientId: 'id:1', clientSecret: secret }
    const redact = createRedactor({ type: 'http', url: 'https://s.example/mcp', headers: {}, signIn })
    const encoded = `${encodeURIComponent(signIn.clientId)}:${encodeURIComponent(secret)}`
    expect(redact(`not Basic ${Buffer.from(encoded).toString('base64')}!`)).toMatch(
      /^not Basic .{0,12}\[redacted\].{0,4}!$/,
    )
    expect(redact(`not Basic ${Buffer.from(`id:1:${secret}`).toString('base64')}!`)).toBe('not Basic [redacted]!')
  })

  it.each([
    ['all that must be', encodeURIComponent(secret)],
    ['as a form', new URLSearchParams({ a: secret }).toString().slice(2)],
    ['as a path', encodeURI(secret)],
    ['in lower case', encodeURIComponent(secret).toLowerCase()],
    ['every byte', [...Buffer.from(secret)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')],
    ['one letter only', secret.replace('s', '%73')],
  ])('redaction recognises a percent-encoded secret: %s', (_how, encoded) => {
    expect(encoded).not.toContain(secret)
    expect(hidden(`GET /%zz?a=1&key=${encoded}&b=100%25 %ff failed`)).toBe(
      'GET /%zz?a=1&key=[redacted]&b=100%25 %ff failed',
    )
  })

  it('redaction removes secrets that overlap once they are decoded', () => {
    const env = { A: 'abcd/efgh', B: 'efgh/ijkl', C: 'd/ef' }
    expect(createRedactor({ ...holder, env })('x abcd%2Fefgh%2Fijkl y')).toBe('x [redacted] y')
  })

  it('redaction leaves ordinary text as it is, encoded or not', () => {
    const text = 'Basic c29tZXRoaW5nIGVsc2U= at https://example.com/a%20b?c=%E2%82%AC%'
    expect(hidden(text)).toBe(text)
  })

  it('redaction recognises the answer to an input in the middle of any text', () => {
    const redact = createRedactor({ ...holder, args: ['TOKEN=typed-value;x'], secrets: ['typed-value'] })
    expect(redact('with typed-value')).toBe('with [redacted]')
  })
})

describe('a secret in pieces', () => {
  const secret = 'tk_9fQ2xL7vB4mZ8sWc1NhRj6Yd'
  const redact = createRedactor({ type: 'stdio', command: 'serve', args: [], env: { SECRET: secret } })
  const pieces = [secret.slice(0, 9), secret.slice(9, 18), secret.slice(18)]
  /** Length of the longest part of the secret that is visible in a text. */
  const shownOf = (text: string) => {
    for (let length = secret.length; length > 0; length -= 1) {
      for (let at = 0; at + length <= secret.length; at += 1)
        if (text.includes(secret.slice(at, at + length))) return length
    }
    return 0
  }

  it.each([
    ['lines', pieces.join('\n')],
    ['short lines', secret.match(/.{1,5}/g)!.join('\r\n   ')],
    ['lines with a prefix each', pieces.map((piece) => `2026-01-01 12:00 [info] app: ${piece}`).join('\n')],
    [
      'short lines with a prefix each',
      secret
        .match(/.{1,5}/g)!
        .map((piece) => `[err] ${piece}`)
        .join('\n'),
    ],
    ['its beginning', `token ${secret.slice(0, 12)}…`],
    ['its end', `…${secret.slice(-12)} was refused`],
    ['its middle', `(${secret.slice(6, 20)})`],
    ['colours', pieces.join('\u001b[0m\u001b[31m')],
    ['what cannot be seen', secret.split('').join('\u200b')],
  ])('redaction finds a secret in pieces: %s', (_what, text) => {
    const shown = redact(`before ${text} after`)
    expect(shown).toContain('[redacted]')
    expect(shown).toMatch(/^before .* after$/s)
    expect(shownOf(shown)).toBeLessThan(8)
  })

  it('redaction finds a secret wherever a text is cut', () => {
    const text = `${'word '.repeat(50)}${secret} ${'word '.repeat(50)}`
    for (let length = 240; length < 300; length += 1) {
      expect(shownOf(redactStart(redact, text, length))).toBeLessThan(8)
      expect(shownOf(redactEnd(redact, text, length))).toBeLessThan(8)
    }
    // Control.
    expect(shownOf(text.slice(0, 270))).toBeGreaterThan(12)
  })

  it('redaction in pieces leaves ordinary text, also where a value looks similar', () => {
    const env = { PLACE: '/home/bob/projects/data-2024', SENTENCE: 'the quick brown fox jumps over 13 dogs' }
    const text = 'cannot read /home/bob/projects/other; the quick brown cat jumps'
    expect(createRedactor({ type: 'stdio', command: 'serve', args: [], env })(text)).toBe(text)
  })
})
