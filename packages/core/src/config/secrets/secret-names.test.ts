import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { PACKAGE_ROOT } from '../../util/package-root.ts'
import {
  COUNTS,
  hasSecretPart,
  isSecret,
  isSecretName,
  NUMBERS_SHOWN,
  SECRET_PART,
  SECRET_WORDS,
} from './secret-arguments.ts'

it.each(['password', 'apiKey', 'x-auth-token', 'API_KEY', 'client_secret', 'dbPass', 'PIN', 'SESSION_COOKIE'])(
  '%s is the name of a secret',
  (name) => {
    expect(isSecretName(name)).toBe(true)
  },
)

it.each(['', 'passenger', 'key', 'issue_key', 'authors', 'tokenizer', 'pinned', 'monkey', 'title'])(
  '%j is not the name of a secret',
  (name) => {
    expect(isSecretName(name)).toBe(false)
  },
)

it('a secret is no empty value, no boolean and no count', () => {
  for (const value of [null, undefined, '', true]) expect(isSecret('private', value)).toBe(false)
  expect(isSecret('max_tokens', 4_000)).toBe(false)
  expect(isSecret('max_tokens', 'abc')).toBe(true)
  expect(isSecret('pin', 1_234)).toBe(true)
  expect([hasSecretPart('access_token'), hasSecretPart('signature')]).toEqual([true, false])
})

it('errors of cells know secrets by the same words', () => {
  const source = readFileSync(
    path.join(PACKAGE_ROOT, 'packages/core/python/sandbridge_kernel/failure/concealment.py'),
    'utf8',
  )
  /** The text that a constant is made of. */
  const textOf = (name: string): string => {
    const [, given = ''] = new RegExp(`^${name} = [\\w.]+\\((.*?)\\)$`, 'ms').exec(source) ?? []
    return Array.from(given.matchAll(/"([^"]*)"/g), ([, text]) => text).join('')
  }
  expect(textOf('_SECRET_WORDS')).toBe(SECRET_WORDS)
  expect(textOf('_SECRET_PART')).toBe(SECRET_PART)
  expect(textOf('_COUNTS')).toBe(COUNTS)
  expect(textOf('_NUMBERS_SHOWN')).toBe(NUMBERS_SHOWN)
})
