import { expect, it } from 'vitest'
import { seccompProfile } from './seccomp-profile.ts'

interface Profile {
  defaultAction: string
  architectures?: string[]
  syscalls: {
    names: string[]
    action: string
    args?: { index: number; value: number; valueTwo: number; op: string }[]
  }[]
}

const profile = JSON.parse(seccompProfile()) as Profile
const unconditional = profile.syscalls
  .filter(({ action, args }) => action === 'SCMP_ACT_ALLOW' && args === undefined)
  .flatMap(({ names }) => names)

it('refuses what it does not list', () => {
  expect(profile.defaultAction).toBe('SCMP_ACT_ERRNO')
  expect(profile).not.toHaveProperty('architectures')
})

it.each(
  `keyctl add_key request_key io_uring_setup io_uring_enter bpf userfaultfd perf_event_open ptrace
   process_vm_readv process_vm_writev pidfd_getfd kcmp unshare setns mount umount2 pivot_root
   open_by_handle_at memfd_create memfd_secret shmget execveat fsopen move_mount syslog init_module
   finit_module kexec_load reboot swapon acct quotactl personality modify_ldt seccomp`.split(/\s+/),
)('does not list %s', (name) => {
  expect(profile.syscalls.flatMap(({ names }) => names)).not.toContain(name)
})

it.each(['clone', 'clone3', 'socket', 'socketpair', 'ioctl', 'setsockopt'])(
  'lets %s through under a condition only',
  (name) => {
    expect(unconditional).not.toContain(name)
  },
)

it.each(['read', 'write', 'openat', 'mmap', 'futex', 'execve', 'epoll_wait', 'getrandom', 'exit_group'])(
  'lists %s',
  (name) => {
    expect(unconditional).toContain(name)
  },
)

/** What an engine makes of the rules for a call: allowed if all conditions of one of them hold. */
function isAllowed(name: string, index: number, argument: bigint): boolean {
  return profile.syscalls
    .filter(({ names, action }) => names.includes(name) && action === 'SCMP_ACT_ALLOW')
    .some(({ args = [] }) =>
      args.every((condition) => {
        expect(condition).toMatchObject({ index, op: 'SCMP_CMP_MASKED_EQ' })
        return (argument & BigInt(condition.value)) === BigInt(condition.valueTwo)
      }),
    )
}

it.each([
  ['ioctl', 1, 0x5412n],
  ['setsockopt', 2, 7n],
] as const)('%s is refused with one value, whatever is in the upper half', (name, index, value) => {
  for (const upper of [0n, 1n << 32n, 1n << 63n]) expect(isAllowed(name, index, value | upper)).toBe(false)
  for (const other of [0n, 1n, 2n, 6n, 8n, 15n, 0x5401n, 0x5413n, 0xffffffffn])
    expect([other, isAllowed(name, index, other)]).toEqual([other, true])
})
