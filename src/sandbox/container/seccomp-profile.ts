// Our list of system calls in the form that podman and docker read. Their own defaults let keyctl, user namespaces, io_uring,
// netlink and vsock through, depending on the version. Pure.
import { ALLOWED_SYSCALLS, ENOSYS, EPERM, RULED_SYSCALLS, RULES } from '../python-syscalls.ts'

const ALLOW = 'SCMP_ACT_ALLOW'

/** The profile as JSON. Names no architecture: then an engine takes the machine's own, and calls of any other one kill the process. */
export function seccompProfile(): string {
  const { clone, clone3, socket, socketpair, ioctl, setsockopt } = RULED_SYSCALLS
  const when = (index: number, op: string, value: number, valueTwo = 0) => [{ index, value, valueTwo, op }]
  return JSON.stringify({
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: EPERM,
    syscalls: [
      { names: ALLOWED_SYSCALLS.map(({ name }) => name), action: ALLOW },
      { names: [clone.name], action: ALLOW, args: when(0, 'SCMP_CMP_MASKED_EQ', RULES.namespaceFlags, 0) },
      { names: [clone3.name], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
      { names: [socket.name, socketpair.name], action: ALLOW, args: when(0, 'SCMP_CMP_EQ', RULES.unixFamily) },
      ...unless(ioctl.name, 1, RULES.terminalInput),
      ...unless(setsockopt.name, 2, RULES.sendBuffer),
    ],
  })
}

/**
 * The call is allowed unless the lower half of this argument is `value`, which is all that the kernel reads of it. "Not equal" compares the
 * upper half as well, so that a value with something there would pass: hence one rule for each bit that may differ.
 */
function unless(name: string, index: number, value: number) {
  return Array.from({ length: 32 }, (_, bit) => {
    const mask = 2 ** bit
    const isSet = Math.floor(value / mask) % 2 === 1
    const args = [{ index, op: 'SCMP_CMP_MASKED_EQ', value: mask, valueTwo: isSet ? 0 : mask }]
    return { names: [name], action: ALLOW, args }
  })
}
