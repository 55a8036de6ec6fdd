import { expect, it } from 'vitest'
import { startFailure } from './failures.ts'

it.each([
  ['My notes', undefined, '`sandbridge servers "My notes"`'],
  ['notes', undefined, '`sandbridge servers notes`'],
  ['notes', 'out of memory', '`sandbridge servers notes --log`'],
])(
  'a failed start of %s names the server as its user does, in the command to run next',
  (server, stderrTail, command) => {
    const about = {
      server,
      redact: (text: string) => text,
      remote: false,
      exit: { code: 1, signal: null },
      stderrTail,
      logged: '',
    }
    const { error } = startFailure(new Error('closed'), about, 1000)
    expect(error.message).toContain(`Server '${server}' could not be started`)
    expect(error.hint).toContain(command)
  },
)

it('a command that is missing is told as such, with how to install it, also where its exit says so', () => {
  const notStarted = Object.assign(new Error('spawn npx ENOENT'), { code: 'ENOENT' })
  const about = { server: 'notes', program: 'npx', redact: (text: string) => text, remote: false }
  const told = startFailure(notStarted, about, 1000)
  expect(told.error.message).toBe("Server 'notes' could not be started: the command `npx` was not found.")
  expect(told.error.hint).toContain('Install Node.js')
  expect(startFailure(new Error('closed'), { ...about, exit: { code: 1, signal: null, notStarted } }, 1000)).toEqual(
    told,
  )
})

it('a result that the client package refuses is told in words', () => {
  const dump = '[\n {"expected": "array", "path": ["serverInfo", "icons"], "message": "expected array"} ]'
  const error = new Error(`Invalid result for initialize: ${dump}`)
  const about = { server: 's', redact: (text: string) => text, remote: false }
  expect(startFailure(error, about, 1000).error.message).toContain(
    '`serverInfo.icons` of initialize is invalid: expected',
  )
})

it.each([
  ['npx -y some-server', true],
  ['/usr/bin/uvx some-server', true],
  ['cmd /c npx.cmd some-server', true],
  ['docker run -i --rm some/server', true],
  ['uv --directory /srv run server.py', true],
  ["sh -c 'npx -y some-server'", true],
  ['deno run -A npm:some-server', true],
  ['deno run server.ts', false],
  ['go run example.com/server@latest', true],
  ['node server.js', false],
  ['python -m npx_server', false],
  ['npm start', false],
])('a start of `%s` that takes too long is explained by a download where it may download: %s', (command, may) => {
  const timeout = Object.assign(new Error('Timed out'), { code: 'REQUEST_TIMEOUT' })
  const redact = (text: string): string => text
  const about = { server: 's', command, redact, remote: false, stderrTail: 'waiting for the database' }
  const { error } = startFailure(timeout, about, 1000)
  expect(error.hint.includes('downloading')).toBe(may)
  expect(error.message).toContain('Last output: waiting for the database')
})
