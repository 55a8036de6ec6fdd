import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { BridgeError } from '../../errors.ts'
import type { ExpandContext } from './expand.ts'
import { toOwnSyntax } from './placeholders.ts'
import { expandTransport } from './expand.ts'
import type { RemoteServer, ServerDefinition, StdioServer } from './server-definition.ts'
import { textHash } from '../trust.ts'
import { needsPosix } from '../../../test/support/suite/needs.ts'
import { newFolder } from '../../../test/support/machine/new-folder.ts'

const context: ExpandContext = {
  env: { TOKEN: 's3cret', EMPTY: '', MCP_INPUT_API_KEY: 'from-env', FORWARDED: 'f', PLACE: '/srv/data' },
  home: '/home/ann',
  workspaceFolder: '/project',
  readFile: (file) => {
    const place = file.replace(/^[A-Z]:/, '').replaceAll('\\', '/')
    if (place === '/home/ann/token') return 'file-text\n'
    if (place === '/project/.env') return 'A=1\nB="two words"\n'
    throw Object.assign(new Error(`ENOENT ${file}`), { code: 'ENOENT' })
  },
}

function stdio(fields: Partial<StdioServer>): ServerDefinition {
  return {
    name: 'srv',
    transport: { type: 'stdio', command: 'x', args: [], env: {}, ...fields },
    source: { client: 'mcps', file: '/f.json' },
  }
}

function remote(fields: Partial<RemoteServer>): ServerDefinition {
  return { ...stdio({}), transport: { type: 'http', url: 'https://example.com', headers: {}, ...fields } }
}

function errorOf(definition: ServerDefinition): BridgeError {
  try {
    expandTransport(definition, context)
  } catch (error) {
    if (BridgeError.isInstance(error)) return error
    throw error
  }
  throw new Error('It was accepted')
}

it.each([
  ['${TOKEN}', 's3cret'],
  ['a${TOKEN}b${TOKEN}', 'as3cretbs3cret'],
  ['${env:TOKEN}', 's3cret'],
  ['${MISSING:-standard}', 'standard'],
  ['${EMPTY:-standard}', 'standard'],
  ['${EMPTY}', ''],
  ['${MISSING:-}', ''],
  ['${MISSING:-a:-b}', 'a:-b'],
  ['${env:MISSING:-standard}', 'standard'],
  ['${file:~/token}', 'file-text'],
  ['${file:/nowhere:-standard}', 'standard'],
  ['${input:api-key}', 'from-env'],
  ['${input:other:-eu}', 'eu'],
  ['${workspaceFolder}/x', '/project/x'],
  ['${workspaceFolderBasename}', 'project'],
  ['${userHome}', '/home/ann'],
  ['${$}{TOKEN}', '${TOKEN}'],
  ['$TOKEN', '$TOKEN'],
  ['$${TOKEN}', '$s3cret'],
  ['~/x', '~/x'],
])('the placeholder %s expands to %s', (text, expected) => {
  expect(expandTransport(stdio({ args: [text] }), context)).toMatchObject({ args: [expected] })
})

it('an expanded value is not expanded again', () => {
  const env = { A: '${TOKEN}', TOKEN: 's3cret' }
  expect(expandTransport(stdio({ args: ['${A}'] }), { ...context, env })).toMatchObject({ args: ['${TOKEN}'] })
})

it('placeholders are expanded in every text of a process', () => {
  const definition = stdio({
    command: '~/bin/${TOKEN}',
    env: { K: '${TOKEN}', A: 'own' },
    cwd: '~/d',
    envFile: '.env',
    inheritEnv: ['FORWARDED', 'ABSENT'],
  })
  expect(expandTransport(definition, context)).toEqual({
    type: 'stdio',
    command: path.join('/home/ann/bin/s3cret'),
    args: [],
    env: { FORWARDED: 'f', A: 'own', B: 'two words', K: 's3cret' },
    cwd: path.join('/home/ann/d'),
    secrets: ['s3cret'],
  })
})

it('placeholders are expanded in a client that was registered by hand', () => {
  const signIn = { clientId: '${TOKEN}', clientSecret: '${file:key}', scope: 'read' }
  expect(expandTransport(remote({ signIn }), { ...context, readFile: () => 'k3y\n' })).toMatchObject({
    signIn: { clientId: 's3cret', clientSecret: 'k3y', scope: 'read' },
  })
})

it('placeholders are expanded in client credentials', () => {
  const oauth = { clientId: 'bridge', clientSecret: '${TOKEN}', issuer: 'https://auth.example' }
  const filled = {
    type: 'http',
    url: 'https://example.com',
    headers: {},
    oauth: { ...oauth, clientSecret: 's3cret' },
    secrets: ['s3cret'],
  }
  expect(expandTransport(remote({ oauth }), context)).toEqual(filled)
  expect(errorOf(remote({ oauth: { ...oauth, clientSecret: '${MISSING}' } })).message).toBe(
    'srv: its oauth clientSecret needs the environment variable MISSING, which is not set.',
  )
})

it('placeholders are expanded in an address and its headers', () => {
  const definition = remote({
    type: 'sse',
    url: 'https://${TOKEN}.example.com/',
    headers: { Authorization: 'Bearer ${TOKEN}' },
  })
  expect(expandTransport(definition, context)).toEqual({
    type: 'sse',
    url: 'https://s3cret.example.com/',
    headers: { Authorization: 'Bearer s3cret' },
    secrets: ['s3cret'],
  })
})

it('the values of inputs and variables are reported, since they are secrets in the middle of any text', () => {
  const { secrets } = expandTransport(
    stdio({ args: ['a=${input:api-key}b', '${input:other:-eu}', '${TOKEN}', '${userHome}/x', '${PLACE}'] }),
    context,
  )
  expect(secrets).toEqual(['from-env', 's3cret'])
})

it('a placeholder of an input asks for it before it looks into the environment', () => {
  const asked = { ...context, input: (id: string) => (id === 'api-key' ? 'typed' : undefined) }
  expect(expandTransport(stdio({ args: ['${input:api-key}'] }), asked)).toMatchObject({ args: ['typed'] })
})

it('unusual headers and passwords that are allowed are accepted', () => {
  const headers = { 'X-A_1': ' caf\u00e9\t\n', Empty: '' }
  expect(expandTransport(remote({ url: 'http://u:100%25@host/', headers }), context)).toMatchObject({ headers })
})

it.each([
  [stdio({ env: { K: '${MISSING}' } }), 'srv: its env K needs the environment variable MISSING'],
  [stdio({ args: ['${constructor}'] }), 'srv: its args needs the environment variable constructor'],
  [stdio({ args: ['${input:other}'] }), 'srv: its args needs the input "other"'],
  [stdio({ args: ['${file:/nowhere}'] }), 'srv: its args names a file that cannot be read (ENOENT): /nowhere'],
  [stdio({ envFile: '/${TOKEN}' }), 'srv: its envFile names a file that cannot be read (ENOENT): /${TOKEN}'],
  [remote({ url: 'http://s3cret:100%@host/' }), 'srv: its url has a user name or password with an invalid % escape'],
  [remote({ headers: { A: '${TOKEN}\nB: x' } }), 'srv: its header A has a character that is not allowed in a header'],
  [remote({ headers: { A: '€s3cret' } }), 'srv: its header A has a character that is not allowed in a header'],
  [remote({ headers: { 'bad name': 's3cret' } }), 'srv: its headers have an invalid name: "bad name"'],
  [stdio({ envFile: '/nowhere' }), 'srv: its envFile names a file that cannot be read (ENOENT): /nowhere'],
  [stdio({ args: ['${command:pick}'] }), 'srv: its args has an unknown placeholder: ${command…}'],
  [remote({ url: '${TOKEN}' }), 'srv: its url is not an http or https address'],
  [remote({ headers: { A: '${MISSING}' } }), 'srv: its header A needs the environment variable MISSING'],
])('a missing value is named in the error (%#)', (definition, message) => {
  const error = errorOf(definition)
  expect(error.code).toBe('CONFIG_INVALID')
  expect(error.message).toContain(message)
  expect(error.hint).not.toBe('')
  expect(JSON.stringify([error.message, error.hint, error.data])).not.toContain('s3cret')
})

it('arguments may name what the entry itself sets, where the environment has no such variable', () => {
  const entry = stdio({ args: ['a:${AUTH}', '${TOKEN}'], env: { AUTH: 'Bearer ${TOKEN}', TOKEN: 'own' } })
  expect(expandTransport(entry, context)).toMatchObject({ args: ['a:Bearer s3cret', 's3cret'], env: { TOKEN: 'own' } })
  expect(errorOf(remote({ url: 'https://example.com/${AUTH}' })).message).toContain('AUTH')
})

it.each([
  ['a comment behind quotes', 'A="x y" # c\nB=\'z\' #c', { A: 'x y', B: 'z' }],
  ['a # in quotes', 'A="x # y"\nB=\'#\'', { A: 'x # y', B: '#' }],
  ['backticks', 'A=`it\'s "x"` # c', { A: 'it\'s "x"' }],
  ['several lines', 'A="-----BEGIN\r\nKEY=1\r\n-----END" # c\r\nB=2', { A: '-----BEGIN\nKEY=1\n-----END', B: '2' }],
  ['an escaped quote and line break', 'A="x\\"y\\nz"', { A: 'x\\"y\nz' }],
  ['a quote that is not closed', 'A="x\nB=2', { A: '"x', B: '2' }],
  ['export, a byte order mark and a comment alone', '\uFEFFexport A=1\nB= # c\n#C=3', { A: '1', B: '' }],
  ['a # outside of quotes, which begins a comment', 'A=a#b\nB=c # d', { A: 'a', B: 'c' }],
  ['spaces, a dollar and lines that assign nothing', "A = x \nB='$HOME'\nno\nC=", { A: 'x', B: '$HOME', C: '' }],
])('an env file has %s', (_what, text, expected) => {
  const read = { ...context, readFile: () => text }
  expect(expandTransport(stdio({ envFile: '.env' }), read)).toMatchObject({ env: expected })
})

it('a file that a project inserts is not used once it differs from what the user trusted', () => {
  const covers = { [path.resolve('/project/.env')]: textHash('A=1\nB="two words"\n') }
  const project = { ...stdio({ envFile: '.env' }), covers }
  expect(expandTransport(project, context)).toMatchObject({ env: { A: '1' } })
  const readFile = (): string => 'A=2'
  expect(() => expandTransport(project, { ...context, readFile })).toThrow(
    'srv: its envFile names a file that has changed since you trusted it: .env',
  )
})

it('files of Windows are read in their encoding, and those of none are told', () => {
  const folder = newFolder()
  const file = path.join(folder, 'secret')
  const { readFile: _, ...place } = context
  const read = (bytes: Buffer, fields: Partial<StdioServer>) => {
    writeFileSync(file, bytes)
    return (expandTransport(stdio(fields), place) as StdioServer).env
  }
  for (const mark of ['', '\uFEFF']) {
    const marked = Buffer.from(`${mark}KEY=one\r\nOTHER=zwei\r\n`, 'utf16le')
    for (const bytes of [marked, Buffer.from(marked).swap16(), Buffer.from(marked.toString('utf16le'))]) {
      expect(read(bytes, { envFile: file })).toEqual({ KEY: 'one', OTHER: 'zwei' })
    }
    const secret = Buffer.from(`${mark}s3cret\r\n`, 'utf16le')
    for (const bytes of [secret, Buffer.from(secret).swap16(), Buffer.from(secret.toString('utf16le'))]) {
      expect(read(bytes, { env: { KEY: `\${file:${file}}` } })).toEqual({ KEY: 's3cret' })
    }
  }
  const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')
  expect(read(latin1('# gr\xFCn\nKEY=one'), { envFile: file })).toEqual({ KEY: 'one' })
  expect(() => read(latin1('KEY=gr\xFCn'), { envFile: file })).toThrow(
    'its envFile names a file that is not UTF-8 text',
  )
  expect(() => read(latin1('gr\xFCn'), { env: { KEY: `\${file:${file}}` } })).toThrow('is not UTF-8 text')
})

it('a named pipe as an envFile is an error, and is not waited for', () => {
  needsPosix('Windows has no named pipes of this kind')
  const folder = newFolder()
  const envFile = path.join(folder, '.env')
  execFileSync('mkfifo', [envFile])
  const { readFile: _, ...place } = context
  expect(() => expandTransport(stdio({ envFile }), place)).toThrow('cannot be read (not an ordinary file)')
})

it('a variable that is not set stays as it is written where its client leaves it so', () => {
  const kept = (text: string): string[] => {
    const server = stdio({ args: [toOwnSyntax(text, { braces: true, dollar: 'kept', percent: true })] })
    return (expandTransport(server, { ...context, env: { SET: 'v', EMPTY: '' } }) as { args: string[] }).args
  }
  for (const text of ['pa$$w0rd@h', 'cost$center', 'cost$5', 'a$', '^x$', '%GONE%', '%E4%F6', '100%', '%5%'])
    expect(kept(text)).toEqual([text])
  expect(kept('$SET-$EMPTY.')).toEqual(['v-.'])
  expect(kept('%SET%-%EMPTY%.%SET')).toEqual(['v-.%SET'])
})
