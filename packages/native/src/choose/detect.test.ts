import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import type { Candidate } from '@sandbridge/core/isolation'
import { readSettings } from '@sandbridge/core/config/settings'
import { SILENT } from '@sandbridge/core/util'
import { findProvider, firstUsable, probeProviders, whyNot } from './detect.ts'

const yes = (name: Candidate['name']) => Promise.resolve({ name, usable: true, verdict: 'works' })
const no = (name: Candidate['name']) => Promise.resolve({ name, usable: false, verdict: 'is missing' })
const WANTED = { image: undefined, runtime: 'auto', cacheDir: '/nonexistent' } as const
const asleep = Promise.resolve({ name: 'podman', usable: false, verdict: 'is stopped', asleep: true } as const)

it('auto takes the first usable provider, and says why not those before it', async () => {
  expect(await firstUsable([no('podman'), yes('docker'), yes('bubblewrap'), yes('pyodide')])).toMatchObject({
    name: 'docker',
    passedOver: [{ name: 'podman', verdict: 'is missing' }],
  })
})

it('auto does not wait for the providers after the one it takes', async () => {
  const never = new Promise<Candidate>(() => {})
  expect((await firstUsable([yes('podman'), never])).name).toBe('podman')
})

it('auto starts a podman machine only when no other provider isolates as well', async () => {
  expect((await firstUsable([asleep, yes('docker'), no('bubblewrap'), yes('pyodide')])).name).toBe('docker')
  expect((await firstUsable([asleep, no('docker'), no('bubblewrap'), yes('pyodide')])).name).toBe('podman')
})

it('auto prefers a rootless engine and bubblewrap to a rootful engine, which isolates better than the embedded sandbox', async () => {
  const rootful = (name: Candidate['name']) => Promise.resolve({ name, usable: true, verdict: 'works', rootful: true })
  const rest = [yes('bubblewrap'), yes('pyodide')]
  const verdict = 'works; what needs no root is preferred'
  expect(await firstUsable([rootful('podman'), yes('docker'), ...rest])).toMatchObject({
    name: 'docker',
    passedOver: [{ name: 'podman', verdict }],
  })
  expect(await firstUsable([no('podman'), rootful('docker'), ...rest])).toMatchObject({
    name: 'bubblewrap',
    passedOver: [{ name: 'podman' }, { name: 'docker', verdict }],
  })
  expect(await firstUsable([rootful('podman'), rootful('docker'), no('bubblewrap'), yes('pyodide')])).toMatchObject({
    name: 'podman',
    passedOver: [],
  })
  // For an image, a processor limit or a runtime, which bubblewrap does not have.
  expect(await firstUsable([no('podman'), rootful('docker'), ...rest], true)).toMatchObject({ name: 'docker' })
})

it('auto passes over what has started no sandbox in an earlier start, and says why', async () => {
  const settings = readSettings({ MCP_BRIDGE_RUNTIME: 'auto' }, { home: tmpdir() })
  const find = (verdict: string) =>
    findProvider(settings, SILENT, undefined, { failed: { podman: { verdict, reason: 'podman: no uid map' } } }, [
      () => Promise.resolve({ name: 'podman', usable: true, verdict: 'podman 5' }),
      () => yes('pyodide'),
    ])
  expect(await find('podman 5')).toMatchObject({
    provider: { name: 'pyodide' },
    passedOver: [{ name: 'podman', verdict: 'podman 5; but podman: no uid map' }],
  })
})

it('doctor tries each sandbox that is ready, and says of one that does not start what keeps it from that', async () => {
  const tried: string[] = []
  const candidates = await probeProviders(WANTED, async (name) => {
    tried.push(name)
    throw new Error('The sandbox did not start: no uid map')
  })
  const unusable = candidates.filter(({ verdict }) => verdict.includes('no uid map'))
  expect(unusable.map(({ name }) => name)).toEqual(tried)
  expect(unusable.filter(({ usable }) => usable)).toEqual([])
  expect(candidates.filter(({ usable, isReady }) => usable && isReady)).toEqual([])
})

it('auto ends at the embedded sandbox', async () => {
  expect((await firstUsable([no('podman'), no('docker'), no('bubblewrap'), yes('pyodide')])).name).toBe('pyodide')
})

it('no engine is usable without an image that is local or can be pulled', async () => {
  const candidates = await probeProviders({ ...WANTED, image: 'localhost/there-is-no-such-image:none' })
  for (const { name, usable, verdict } of candidates.slice(0, 2)) expect(usable, `${name}: ${verdict}`).toBe(false)
})

it('only bubblewrap is usable with a folder or an archive, and says whose Python it runs', async () => {
  const image = '/images/data.tar'
  const [podman, docker, bubblewrap] = await probeProviders({ ...WANTED, image })
  for (const engine of [podman, docker]) {
    expect(engine).toMatchObject({ usable: false, verdict: expect.stringContaining('which only bubblewrap can use') })
  }
  // A machine without bubblewrap reports that instead.
  expect(bubblewrap?.verdict).toMatch(bubblewrap?.usable ? `bubblewrap with the Python of ${image}` : /\w/)
})

it('every provider of this machine has a verdict in words', async () => {
  const candidates = await probeProviders(WANTED)
  expect(candidates.map(({ name }) => name)).toEqual(['podman', 'docker', 'bubblewrap', 'pyodide'])
  for (const { verdict } of candidates) expect(verdict.length).toBeGreaterThan(10)
})

it('the verdict on the embedded sandbox says whether bubblewrap is its outer wall', async () => {
  const [, , bubblewrap, pyodide] = await probeProviders(WANTED)
  expect(pyodide!.verdict).toMatch(
    bubblewrap!.usable ? /bubblewrap is its outer wall/ : /bubblewrap is its outer wall|outer wall.*: .*bubblewrap/,
  )
})

it('a sandbox whose Python failed is passed over for the error, not for the way to it', () => {
  const way = '  File "/sandbridge/loop.py", line 109, in __init__\n    super().__init__()\n'.repeat(20)
  const error = 'PermissionError: [Errno 1] Operation not permitted'
  const trace = `Traceback (most recent call last):\n${way}${error}\n`
  expect(whyNot('bubblewrap', new Error(`Python in bubblewrap did not start: ${trace}`))).toBe(
    `Python in bubblewrap did not start: ${error}`,
  )
  expect(whyNot('podman', new Error(`errupts, channel\n${way}${error}`))).toBe(`podman: ${error}`)
})
