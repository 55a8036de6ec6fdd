import { expect, it } from 'vitest'
import type { ServerSandbox, StdioServer } from '../../../core/src/config/entries/server-definition.ts'
import { programInPod } from './server-pod.ts'

const SERVER: StdioServer = { type: 'stdio', command: 'npx', args: ['-y', 'a'], env: { TOKEN: 't' } }
const IMAGE = 'node:24-slim'
const inPod = (sandbox?: ServerSandbox, more: Partial<StdioServer> = {}) =>
  programInPod('one', { ...SERVER, ...more, ...(sandbox && { sandbox }) }, IMAGE)

it('a server in a pod runs its command in the configured image, and reaches nothing', () => {
  const program = { name: 'one', image: IMAGE, command: 'npx', args: ['-y', 'a'], environment: { TOKEN: 't' } }
  expect(inPod()).toMatchObject({ ...program, hasNetwork: false })
  expect(inPod({}, { cwd: '/srv' })).toMatchObject({ ...program, folder: '/srv', hasNetwork: false })
})

it('the image of a definition wins over the configured one', () => {
  expect(inPod({ image: 'a:1' })).toMatchObject({ image: 'a:1', command: 'npx' })
  const args = ['run', '-i', '--rm', '-e', 'TOKEN', 'b:2', 'serve']
  expect(inPod(undefined, { command: 'docker', args })).toMatchObject({ image: 'b:2', args: ['serve'] })
})

it.each([
  [true, true],
  [false, false],
  [{ allowedDomains: ['*'] }, true],
  [{ allowedDomains: [] }, false],
])('a server in a pod with the network %j has a network: %s', (network, expected) => {
  expect(inPod({ network }).hasNetwork).toBe(expected)
})

it.each([
  ['domains', { network: { allowedDomains: ['api.example.com'] } }, 'names domains'],
  ['domains that it may not reach', { network: { allowedDomains: ['*'], deniedDomains: ['a.b'] } }, 'names domains'],
  ['folders', { filesystem: { allowWrite: ['/data'] } }, 'opens folders'],
])('a server whose sandbox names %s does not run in a pod', (_, sandbox, why) => {
  expect(() => inPod(sandbox)).toThrow(expect.objectContaining({ code: 'UPSTREAM_JAIL_UNAVAILABLE' }))
  expect(() => inPod(sandbox)).toThrow(why)
})

it('a server in a pod needs an image and names of variables that a pod can have', () => {
  expect(() => programInPod('one', SERVER)).toThrow(/'one' runs in a pod, and has no image/)
  expect(() => inPod({ image: '--privileged' })).toThrow('an image whose name is invalid')
  expect(() => inPod(undefined, { env: { 'A B': '1' } })).toThrow('a variable whose name no pod can have: A B')
})
