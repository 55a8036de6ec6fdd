// A small interpreter of classic BPF runs the filter, so that its decisions are tested rather than its form.
// The attack tests verify that the kernel interprets it in the same way.
import { describe, expect, it } from 'vitest'
import { ALLOWED_SYSCALLS, FLOCK, MISSING_SYSCALL, RULED_SYSCALLS } from './python-syscalls.ts'
import { seccompFilter, type FilterArch } from './seccomp-filter.ts'

const AUDIT_ARCH = { x64: 0xc000003e, arm64: 0xc00000b7, i386: 0x40000003 }
const ALLOW = 'allow'

interface Call {
  arch?: number
  number: number
  args?: number[]
}

function decide(filter: Buffer, { arch = AUDIT_ARCH.x64, number, args = [] }: Call): string {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(number, 0)
  data.writeUInt32LE(arch, 4)
  args.forEach((value, index) => data.writeBigUInt64LE(BigInt(value), 16 + index * 8))
  let register = 0
  for (let at = 0; ; at += 1) {
    const code = filter.readUInt16LE(at * 8)
    const [whenTrue, whenFalse] = [filter.readUInt8(at * 8 + 2), filter.readUInt8(at * 8 + 3)]
    const value = filter.readUInt32LE(at * 8 + 4)
    const jump = (condition: boolean) => (at += condition ? whenTrue : whenFalse)
    if (code === 0x20) register = data.readUInt32LE(value)
    else if (code === 0x54) register = (register & value) >>> 0
    else if (code === 0x15) jump(register === value)
    else if (code === 0x25) jump(register > value)
    else if (code === 0x35) jump(register >= value)
    else if (code === 0x45) jump((register & value) !== 0)
    else if (code === 0x06) return meaning(value)
    else throw new Error(`unknown instruction ${code}`)
  }
}

function meaning(value: number): string {
  if (value === 0x7fff0000) return ALLOW
  if (value === 0x80000000) return 'kill'
  return `errno ${value & 0xffff}`
}

describe.each(['x64', 'arm64'] satisfies FilterArch[])('the filter for %s', (name) => {
  const filter = seccompFilter(name, true)
  const arch = AUDIT_ARCH[name]
  const call = (number: number, ...args: number[]) => decide(filter, { arch, number, args })

  it('the filter allows every listed call, and none between them', () => {
    const listed = new Set(ALLOWED_SYSCALLS.map((syscall) => syscall[name]).filter((number) => number !== undefined))
    const ruled = new Set([...RULED_SYSCALLS, MISSING_SYSCALL, FLOCK].map((syscall) => syscall[name]))
    for (let number = 0; number < 600; number += 1) {
      if (ruled.has(number)) continue
      expect([number, call(number)]).toEqual([number, listed.has(number) ? ALLOW : 'errno 1'])
    }
  })

  const clone = name === 'x64' ? 56 : 220
  it.each([
    ['a fork', 17, ALLOW],
    ['a thread', 0x3d0f00, ALLOW],
    ['a user namespace', 0x10000000, 'errno 1'],
    ['a mount namespace among other flags', 0x20000 | 17, 'errno 1'],
    ['a network namespace', 0x40000000, 'errno 1'],
    ['a namespace hidden by the upper half', 2 ** 32 + 0x10000000, 'errno 1'],
  ])('the filter decides on clone by its flags: %s', (_, flags, verdict) => {
    expect(call(clone, flags)).toBe(verdict)
  })

  const socket = name === 'x64' ? 41 : 198
  it.each([
    ['AF_UNIX', 1, ALLOW],
    ['AF_INET', 2, 'errno 1'],
    ['AF_INET6', 10, 'errno 1'],
    ['AF_NETLINK', 16, 'errno 1'],
    ['AF_PACKET', 17, 'errno 1'],
    ['AF_ALG', 38, 'errno 1'],
    ['AF_VSOCK', 40, 'errno 1'],
  ])('the filter decides on sockets by their family: %s', (_, family, verdict) => {
    expect(call(socket, family, 1, 0)).toBe(verdict)
    expect(call(socket + (name === 'x64' ? 12 : 1), family, 1, 0)).toBe(verdict)
  })

  it('the filter refuses typing into a terminal, and no other ioctl', () => {
    const ioctl = name === 'x64' ? 16 : 29
    expect([call(ioctl, 0, 0x5412), call(ioctl, 0, 0x5401)]).toEqual(['errno 1', ALLOW])
  })

  it.each([
    ['setsockopt', 2, [7, 76, 2 ** 32 + 7], [2, 15, 75]],
    ['getsockopt', 2, [77, 2 ** 32 + 77], [7, 17, 76]],
    ['prlimit64', 0, [1, 2 ** 32 + 1], [0, 2, 4711]],
    ['sched_setaffinity', 0, [1, 2 ** 32 + 1], [0, 2, 4711]],
    ['prctl', 0, [22, 35, 67, 0x59616d61], [4, 15, 39, 0x53564d41]],
    ['fcntl', 1, [1024, 1026, 2 ** 32 + 1026], [0, 6, 7, 38, 1025, 1031]],
    ['mmap', 3, [], [0x02, 0x22, 0x21]],
  ] as const)('the filter decides on %s by an argument', (syscall, argument, refused, allowed) => {
    const number = RULED_SYSCALLS.find((one) => one.name === syscall)![name]!
    const verdict = (value: number) => call(number, ...[0, 0, 0].slice(0, argument), value)
    expect(refused.map(verdict)).toEqual(refused.map(() => 'errno 1'))
    expect(allowed.map(verdict)).toEqual(allowed.map(() => ALLOW))
  })

  it('the filter allows a priority change only for the calling process', () => {
    const setpriority = name === 'x64' ? 141 : 140
    expect([call(setpriority, 0, 0, 5), call(setpriority, 0, 1, 5)]).toEqual([ALLOW, 'errno 1'])
    expect([call(setpriority, 1, 0, 5), call(setpriority, 2, 0, 5)]).toEqual(['errno 1', 'errno 1'])
  })

  it('the filter allows no shared memory without a file where nothing counts it', () => {
    const uncounted = seccompFilter(name, false)
    const mmap = (flags: number) =>
      decide(uncounted, { arch, number: name === 'x64' ? 9 : 222, args: [0, 4096, 3, flags] })
    expect([0x21, 0x23, 0x40021].map(mmap)).toEqual(['errno 1', 'errno 1', 'errno 1'])
    expect([0x01, 0x02, 0x22, 0x32].map(mmap)).toEqual([ALLOW, ALLOW, ALLOW, ALLOW])
  })

  it('the filter reports clone3 as missing, so that libc uses clone, and flock, so that libraries use another lock', () => {
    expect([call(435), call(name === 'x64' ? 73 : 32)]).toEqual(['errno 38', 'errno 38'])
  })

  it('the filter kills a process that makes calls of another architecture', () => {
    expect(decide(filter, { arch: AUDIT_ARCH.i386, number: 4 })).toBe('kill')
    expect(decide(filter, { arch: name === 'x64' ? AUDIT_ARCH.arm64 : AUDIT_ARCH.x64, number: 1 })).toBe('kill')
  })
})

it('the filter kills a process that makes x32 calls, which x86_64 has beside its own', () => {
  expect(decide(seccompFilter('x64', true), { number: 0x40000000 + 41, args: [2] })).toBe('kill')
})

it('the filter lists no number twice', () => {
  for (const arch of ['x64', 'arm64'] as const) {
    const numbers = ALLOWED_SYSCALLS.map((syscall) => syscall[arch]).filter((number) => number !== undefined)
    expect(new Set(numbers).size).toBe(numbers.length)
  }
})
