import { expect, it } from 'vitest'
import { environmentOf } from './protocol.ts'

it.each([
  ['win32', 'C:\\Windows', true],
  ['linux', undefined, false],
] as const)('variables on %s are found by the names that its processes use', (platform, path, hasAny) => {
  const env = environmentOf({ Path: 'C:\\Windows', WHO: 'ann' }, platform)
  expect([env['PATH'], env['Path'], env['WHO']]).toEqual([path, 'C:\\Windows', 'ann'])
  expect(['PATH' in env, 'pAtH' in env, 'OTHER' in env]).toEqual([hasAny, hasAny, false])
  expect(Object.entries(env)).toEqual([
    ['Path', 'C:\\Windows'],
    ['WHO', 'ann'],
  ])
})
