import { expect, it } from 'vitest'
import { environmentOf, mergedEnvironment } from './environment.ts'

it.each([
  ['win32', 'C:\\Windows', true],
  ['linux', undefined, false],
] as const)('variables on %s are found by the names that its processes use', (platform, path, hasAny) => {
  const env = environmentOf({ Path: 'C:\\Windows', WHO: 'ann' }, platform)
  expect([env['PATH'], env['Path'], env['WHO']]).toEqual([path, 'C:\\Windows', 'ann'])
  expect(['PATH' in env, 'pAtH' in env, 'OTHER' in env]).toEqual([hasAny, hasAny, false])
  expect([Object.hasOwn(env, 'PATH'), Object.hasOwn(env, 'constructor')]).toEqual([hasAny, false])
  expect(Object.entries(env)).toEqual([
    ['Path', 'C:\\Windows'],
    ['WHO', 'ann'],
  ])
  expect({ ...env }).toEqual({ Path: 'C:\\Windows', WHO: 'ann' })
})

const INHERITED = { PATH: 'a', TEMP: 'b', HTTPS_PROXY: 'c', https_proxy: 'c', NPM_CONFIG_REGISTRY: 'd' }

it.each([
  { Path: '1', Temp: '2', https_proxy: '3', npm_config_registry: '4' },
  { path: '1', temp: '2', Https_Proxy: '3', NPM_CONFIG_REGISTRY: '4' },
  { PATH: '1', TEMP: '2', HTTPS_PROXY: '3', Npm_Config_Registry: '4' },
])('on Windows, an own variable replaces the inherited one, however it is written: %o', (own) => {
  const merged = mergedEnvironment<string>([INHERITED, own], 'win32')
  expect(merged).toEqual(own)
  expect([merged['PATH'], merged['npm_config_registry']]).toEqual(['1', '4'])
})

it('elsewhere, variables whose names differ in case are different ones', () => {
  const both = { ...INHERITED, Path: '1' }
  expect(mergedEnvironment<string>([INHERITED, { Path: '1' }], 'linux')).toEqual(both)
})
