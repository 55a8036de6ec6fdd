import { describe, expect, it } from 'vitest'
import type { RuledSyscall } from '../../native/src/seccomp/python-syscalls.ts'
import { refusingProfile, seccompProfile } from './seccomp-profile.ts'

interface Profile {
  defaultAction: string
  architectures?: string[]
  syscalls: {
    names: string[]
    action: string
    args?: { index: number; value: number; valueTwo: number; op: string }[]
  }[]
}

const profile = JSON.parse(seccompProfile(true)) as Profile
const unconditional = profile.syscalls
  .filter(({ action, args }) => action === 'SCMP_ACT_ALLOW' && args === undefined)
  .flatMap(({ names }) => names)

it('the seccomp profile refuses calls that it does not list', () => {
  expect(profile.defaultAction).toBe('SCMP_ACT_ERRNO')
  expect(profile).not.toHaveProperty('architectures')
})

it.each(
  `keyctl add_key request_key io_uring_setup io_uring_enter bpf userfaultfd perf_event_open ptrace
   process_vm_readv process_vm_writev pidfd_getfd kcmp unshare setns mount umount2 pivot_root
   open_by_handle_at memfd_create memfd_secret shmget execveat inotify_init inotify_init1 fsopen move_mount syslog init_module
   finit_module kexec_load reboot swapon acct quotactl personality modify_ldt seccomp`.split(/\s+/),
)('the seccomp profile does not list %s', (name) => {
  expect(profile.syscalls.flatMap(({ names }) => names)).not.toContain(name)
})

it.each(
  'clone clone3 socket socketpair ioctl setsockopt getsockopt prctl prlimit64 sched_setaffinity setpriority'.split(' '),
)('the seccomp profile allows %s under a condition only', (name) => {
  expect(unconditional).not.toContain(name)
})

it.each(['read', 'write', 'openat', 'mmap', 'futex', 'execve', 'epoll_wait', 'getrandom', 'exit_group'])(
  'the seccomp profile lists %s',
  (name) => {
    expect(unconditional).toContain(name)
  },
)

/** Evaluates the rules for a call as an engine does: allowed if all conditions of any rule hold. */
function isAllowed(name: string, args: Record<number, bigint>, { syscalls } = profile): boolean {
  return syscalls
    .filter(({ names, action }) => names.includes(name) && action === 'SCMP_ACT_ALLOW')
    .some((rule) =>
      (rule.args ?? []).every(({ index, op, value, valueTwo }) => {
        expect(op).toBe('SCMP_CMP_MASKED_EQ')
        return ((args[index] ?? 0n) & BigInt(value)) === BigInt(valueTwo)
      }),
    )
}

const UPPER_HALVES = [0n, 1n << 32n, 1n << 63n]

it.each([
  ['ioctl', 1, [0x5412n]],
  ['setsockopt', 2, [7n, 76n]],
  ['getsockopt', 2, [77n]],
  ['prlimit64', 0, [1n]],
  ['sched_setaffinity', 0, [1n]],
] as const)('the seccomp profile refuses %s with some values, whatever is in the upper half', (name, index, values) => {
  for (const upper of UPPER_HALVES)
    for (const value of values) expect(isAllowed(name, { [index]: value | upper })).toBe(false)
  for (const other of [0n, 2n, 6n, 8n, 15n, 75n, 78n, 0x5401n, 0x5413n, 0xffffffffn])
    expect([other, isAllowed(name, { [index]: other })]).toEqual([other, true])
})

it('the seccomp profile allows a priority change only for the calling process', () => {
  expect(isAllowed('setpriority', { 0: 0n, 1: 0n })).toBe(true)
  for (const [which, who] of [
    [0n, 1n],
    [1n, 0n],
    [2n, 0n],
    [0n, 4n],
  ] as const)
    expect(isAllowed('setpriority', { 0: which, 1: who })).toBe(false)
})

it('the seccomp profile allows only listed operations of prctl', () => {
  for (const option of [15n, 38n, 0x53564d41n]) expect(isAllowed('prctl', { 0: option })).toBe(true)
  for (const option of [22n, 35n, 67n, 0x59616d61n, 0xffffffffn])
    for (const upper of UPPER_HALVES) expect(isAllowed('prctl', { 0: option | upper })).toBe(false)
})

it('the seccomp profile allows no shared memory without a file where nothing counts it', () => {
  const uncounted = JSON.parse(seccompProfile(false)) as Profile
  for (const flags of [0x02n, 0x22n, 0x01n, 0x32n, 0x08n | 0x20n])
    expect(isAllowed('mmap', { 3: flags }, uncounted)).toBe(true)
  for (const flags of [0x21n, 0x23n, 0x40021n, 0x21n | (1n << 40n)]) {
    expect(isAllowed('mmap', { 3: flags }, uncounted)).toBe(false)
    expect(isAllowed('mmap', { 3: flags })).toBe(true)
  }
})

describe('a profile that refuses', () => {
  const rules: RuledSyscall[] = [
    { name: 'clone', x64: 56, arm64: 220, allowedWhen: [{ argument: 0, hasNoneOf: 0x30 }] },
    { name: 'socket', x64: 41, arm64: 198, allowedWhen: [{ argument: 0, isNoneOf: [16, 40] }] },
    { name: 'prctl', x64: 157, arm64: 167, allowedWhen: [{ argument: 0, isOneOf: [1, 2] }] },
    { name: 'mmap', x64: 9, arm64: 222, allowedWhen: [{ argument: 3, hasNotAllOf: 0x21 }] },
  ]
  const refusing = JSON.parse(refusingProfile([{ name: 'mount', x64: 165, arm64: 40 }], rules)) as Profile
  /** Refused if all conditions of any rule hold. */
  const isRefused = (name: string, args: Record<number, bigint> = {}): boolean =>
    refusing.syscalls
      .filter(({ names, action }) => names.includes(name) && action === 'SCMP_ACT_ERRNO')
      .some((rule) =>
        (rule.args ?? []).every(
          ({ index, value, valueTwo }) => ((args[index] ?? 0n) & BigInt(value)) === BigInt(valueTwo),
        ),
      )

  it('a profile that denies by list allows other calls', () => {
    expect(refusing.defaultAction).toBe('SCMP_ACT_ALLOW')
    expect([isRefused('mount'), isRefused('clone3'), isRefused('read')]).toEqual([true, true, false])
  })

  it.each([
    ['clone', 0, [0x10n, 0x20n, 0x31n], [0n, 0x0fn, 0x40n]],
    ['socket', 0, [16n, 40n], [1n, 2n, 10n, 17n]],
    ['prctl', 0, [0n, 3n, 0xffffffffn], [1n, 2n]],
    ['mmap', 3, [0x21n, 0x61n], [0x01n, 0x20n, 0n]],
  ] as const)(
    'a profile that denies by list refuses %s with some values, whatever is in the upper half',
    (name, index, refused, allowed) => {
      for (const upper of UPPER_HALVES) {
        for (const value of refused) expect([value, isRefused(name, { [index]: value | upper })]).toEqual([value, true])
        for (const value of allowed)
          expect([value, isRefused(name, { [index]: value | upper })]).toEqual([value, false])
      }
    },
  )
})
