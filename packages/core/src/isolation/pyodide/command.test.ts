import { describe, expect, it } from 'vitest'
import { SANDBOX_SETTINGS } from '../../config/settings/sandbox.ts'
import { SMALLEST_MEMORY_BYTES, nodeFlags, planMemory, underMemoryCap } from './command.ts'

const MIB = 1 << 20

it.each([SMALLEST_MEMORY_BYTES, 384 * MIB, 512 * MIB, 2048 * MIB, 8192 * MIB])(
  'the parts of a memory limit of %d fit into it',
  (bytes) => {
    const plan = planMemory(bytes)
    expect(plan.heapMaxBytes % 65536).toBe(0)
    expect(plan.heapMaxBytes).toBeGreaterThanOrEqual(64 * MIB)
    expect(plan.heapMaxBytes + 2 * plan.filesMaxBytes).toBeLessThan(bytes)
    expect(plan.dataBytes).toBe(bytes)
    // WebAssembly with 32-bit addresses has 65,536 pages.
    expect(plan.heapMaxBytes / 65536).toBeLessThan(65536)
  },
)

it.each([0, -1, Number.NaN, SMALLEST_MEMORY_BYTES - 1])(
  'a memory limit of %d bytes is refused, with the least that is needed',
  (bytes) => {
    expect(() => planMemory(bytes)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining('272 MiB'),
        hint: expect.stringMatching(/^Set MCP_BRIDGE_MEMORY to 272m or more/),
      }),
    )
  },
)

it('the least memory limit is the one that the setting accepts', () => {
  expect(SANDBOX_SETTINGS.memoryBytes.meaning).toContain(`needs at least ${SMALLEST_MEMORY_BYTES / MIB}m.`)
})

describe('nodeFlags', () => {
  const memory = planMemory(512 * MIB)
  const flags = (version: string, known: string[] = []): string[] =>
    nodeFlags('/bundle', memory, { version, allows: (flag) => known.includes(flag), hasDeepStack: true })

  it('the permission model has the flag that this version of Node knows', () => {
    for (const version of ['v20.20.2', 'v22.12.0', 'v23.4.0']) {
      expect(flags(version)).toContain('--experimental-permission')
      expect(flags(version)).not.toContain('--permission')
    }
    expect(flags('v22.13.0', ['--permission'])).toContain('--permission')
    expect(flags('v22.13.0', ['--permission'])).not.toContain('--experimental-permission')
    // A build that hides its flags.
    expect(flags('v26.10.0')).toContain('--permission')
  })

  it('the embedded sandbox runs with --disable-sigusr1 where Node has it', () => {
    expect(flags('v22.23.3', ['--disable-sigusr1'])).toContain('--disable-sigusr1')
    expect(flags('v22.10.0')).not.toContain('--disable-sigusr1')
  })

  it('the embedded sandbox may read one folder, and is allowed nothing else but threads', () => {
    const allowed = flags('v22.23.3').filter((flag) => flag.startsWith('--allow'))
    expect(allowed).toEqual(['--allow-worker', '--allow-fs-read=/bundle'])
  })
})

describe('underMemoryCap', () => {
  const memory = planMemory(512 * MIB)
  const node = (version: string, hasDeepStack = true) => ({ version, allows: () => true, hasDeepStack })

  it('the memory cap leaves out the code range that newer versions of Node reserve', () => {
    const script = underMemoryCap(['/node'], memory, { platform: 'linux', node: node('v24.21.0') })[2]
    expect(script).toContain(`ulimit -d ${(512 + 560) * 1024};`)
  })

  it('the memory cap cannot be lifted by the command on Linux', () => {
    const [shell, option, script, , ...command] = underMemoryCap(['/node', '--flag', 'a b'], memory, {
      platform: 'linux',
      node: node('v22.23.3'),
    })
    expect([shell, option]).toEqual(['/bin/sh', '-c'])
    expect(script).toContain(`ulimit -d ${512 * 1024};`)
    expect(command).toEqual(['/node', '--flag', 'a b'])
  })

  it('the stack under the memory cap is as deep as it may be', () => {
    const script = (deep: boolean) =>
      underMemoryCap(['/node'], memory, { platform: 'linux', node: node('v24.0.0', deep) })[2]
    expect(script(true)).toContain('ulimit -s unlimited;')
    expect(script(false)).toContain('ulimit -s 4096;')
  })

  it('the command has no memory cap on other systems', () => {
    expect(underMemoryCap(['/node'], memory, { platform: 'darwin', node: node('v24.0.0') })).toEqual(['/node'])
    expect(underMemoryCap(['/node'], memory, { platform: 'win32', node: node('v24.0.0') })).toEqual(['/node'])
  })
})
