// This file verifies that docs/errors.md lists exactly the codes in the table, each with its actor.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { BridgeError, ERROR_CODES } from './errors.ts'

const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8')
/** Every third-level heading is a code, followed by its actor. */
const documented = page
  .split(/^### /m)
  .slice(1)
  .map((section) => {
    const [, code, actor] = /^`([A-Z_]+)`\n\n([A-Z]\w+)(?:; retry)?\.\n\n\S/.exec(section) ?? []
    return { code, actor: actor?.toLowerCase() }
  })

it('docs/errors.md documents every error code, and no other', () => {
  const known = Object.entries(ERROR_CODES).map(([code, { actor }]) => ({ code, actor }))
  expect(documented.toSorted((a, b) => a.code!.localeCompare(b.code!))).toEqual(
    known.toSorted((a, b) => a.code.localeCompare(b.code)),
  )
})

it('an error has its own hint, or the one of its code', () => {
  expect(new BridgeError('SESSION_LIMIT', 'm').hint).toBe(ERROR_CODES.SESSION_LIMIT.hint)
  expect(new BridgeError('SESSION_LIMIT', 'm', { hint: 'h' }).hint).toBe('h')
})

it.each([
  ['spawn /bin/sh EAGAIN', /`ulimit -u`.*container/],
  ['bwrap: Creating new namespace failed: Resource temporarily unavailable', /`ulimit -u`/],
  ['#  node[9]: Assertion failed: uv_thread_create(t)', /`ulimit -u`/],
  ['spawn bwrap EMFILE', /`ulimit -n`/],
  ['it was killed by SIGKILL, perhaps because memory ran out', /container more memory/],
  ['RangeError: WebAssembly.Memory(): could not allocate memory', /`ulimit -v unlimited`/],
])('a sandbox that a limit of the system keeps from starting names that limit: %s', (message, hint) => {
  expect(new BridgeError('SANDBOX_START_FAILED', message).hint).toMatch(hint)
  expect(new BridgeError('SANDBOX_ENGINE_MISSING', message, { hint: 'h' }).hint).toBe('h')
})
