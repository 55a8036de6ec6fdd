import fc from 'fast-check'
import { expect, it } from 'vitest'
import { expandTransport } from './expand.ts'
import { OWN_SYNTAX, toOwnSyntax } from './placeholders.ts'
import type { PlaceholderSyntax } from './placeholders.ts'

it.each<[PlaceholderSyntax, string, string]>([
  [{ braces: true }, '${A} ${A:-b} ${env:A} $A', '${A} ${A:-b} ${$}{env:A} $A'],
  [{ env: true }, '${A} ${env:A}', '${$}{A} ${env:A}'],
  [{ braces: true, dollar: true }, '$A ${B} 5$ $5', '${A} ${B} 5$ $5'],
  [{ curly: true }, '{env:A} {file:./x} ${A} {other:A}', '${env:A} ${file:./x} ${$}{A} {other:A}'],
  [
    { folders: true },
    '${workspaceFolder}${/}${userHome}${command:x}',
    '${workspaceFolder}${/}${userHome}${$}{command:x}',
  ],
  [{ inputs: { region: 'eu' } }, '${input:key} ${input:region}', '${input:key} ${input:region:-eu}'],
  [{}, '${', '${$}{'],
  [OWN_SYNTAX, '${$}{A}', '${$}{A}'],
  [{ braces: true }, '${$}', '${$}{$}'],
])('the placeholder syntax %j is translated: %s', (syntax, text, expected) => {
  expect(toOwnSyntax(text, syntax)).toBe(expected)
})

it('any text stays literal for a client that expands nothing', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[${}:\-A-Za-z/ ]{0,30}$/), (text) => {
      const transport = { type: 'stdio', command: 'x', args: [toOwnSyntax(text, {})], env: {} } as const
      const definition = {
        name: 'n',
        transport: { ...transport, args: [...transport.args] },
        source: { client: 'c', file: 'f' },
      }
      const expanded = expandTransport(definition, { env: {}, home: '/h', workspaceFolder: '/w' })
      expect(expanded).toMatchObject({ args: [text] })
    }),
  )
})
