// Our system calls for podman and docker, whose defaults may allow keyctl, user namespaces, io_uring, vsock. Pure.
import {
  ALLOWED_SYSCALLS,
  ENOSYS,
  EPERM,
  FLOCK,
  MISSING_SYSCALL,
  RULED_SYSCALLS,
} from '@sandbridge/native/seccomp/python-syscalls.ts'
import type { ArgumentTest, RuledSyscall, Syscall } from '@sandbridge/native/seccomp/python-syscalls.ts'

const ALLOW = 'SCMP_ACT_ALLOW'

/** Of an argument's lower half, the bits in `value` must equal `valueTwo`. */
interface Condition {
  index: number
  value: number
  valueTwo: number
  op: 'SCMP_CMP_MASKED_EQ'
}

/**
 * The profile as JSON. Names no architecture: engines then use the machine's own, and calls of any other kill the
 * process. `countedMemory` tells whether the engine counts all memory of a container. If not, the profile also refuses
 * memory that cannot be counted from inside.
 */
export function seccompProfile(countedMemory: boolean): string {
  return JSON.stringify({
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: EPERM,
    syscalls: [
      { names: [...ALLOWED_SYSCALLS, FLOCK].map(({ name }) => name), action: ALLOW },
      { names: [MISSING_SYSCALL.name], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
      ...RULED_SYSCALLS.flatMap((syscall) => ruled(syscall, countedMemory)),
    ],
  })
}

/**
 * A profile that refuses these calls, and ruled ones unless their tests pass; allows all others. See `refusingFilter`.
 */
export function refusingProfile(refused: readonly Syscall[], rules: readonly RuledSyscall[]): string {
  const refuse = { action: 'SCMP_ACT_ERRNO', errnoRet: EPERM }
  return JSON.stringify({
    defaultAction: ALLOW,
    syscalls: [
      { names: refused.map(({ name }) => name), ...refuse },
      { names: [MISSING_SYSCALL.name], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
      ...rules.flatMap(({ name, allowedWhen }) =>
        allowedWhen.flatMap(waysToFail).map((condition) => ({ names: [name], ...refuse, args: [condition] })),
      ),
    ],
  })
}

/** An engine allows a call if all conditions of any rule hold: create one rule for each way to pass all tests. */
function ruled({ name, allowedWhen, uncountedMemoryOnly }: RuledSyscall, countedMemory: boolean) {
  if (countedMemory && uncountedMemoryOnly) return [{ names: [name], action: ALLOW }]
  const ways = allowedWhen.reduce<Condition[][]>(
    (before, test) => before.flatMap((way) => waysToPass(test).map((condition) => [...way, condition])),
    [[]],
  )
  return ways.map((args) => ({ names: [name], action: ALLOW, args }))
}

const conditionOn =
  ({ argument }: ArgumentTest) =>
  (mask: number, value: number): Condition => ({
    index: argument,
    value: mask,
    valueTwo: value,
    op: 'SCMP_CMP_MASKED_EQ',
  })

function waysToPass(test: ArgumentTest): Condition[] {
  const condition = conditionOn(test)
  if ('isOneOf' in test) return test.isOneOf.map((value) => condition(0xff_ff_ff_ff, value))
  if ('isNoneOf' in test) return allBut(test.isNoneOf).map(([mask, value]) => condition(mask, value))
  if ('hasNoneOf' in test) return [condition(test.hasNoneOf, 0)]
  return bitsOf(test.hasNotAllOf).map((bit) => condition(bit, 0))
}

function waysToFail(test: ArgumentTest): Condition[] {
  const condition = conditionOn(test)
  if ('isNoneOf' in test) return test.isNoneOf.map((value) => condition(0xff_ff_ff_ff, value))
  if ('hasNoneOf' in test) return bitsOf(test.hasNoneOf).map((bit) => condition(bit, bit))
  if ('isOneOf' in test) return allBut(test.isOneOf).map(([mask, value]) => condition(mask, value))
  return [condition(test.hasNotAllOf, test.hasNotAllOf)]
}

/**
 * All 32-bit numbers except these, as prefixes: pairs of a mask and the value under it. An engine's "not equal" would
 * compare the argument's upper half, too, so a value with bits set there would pass.
 */
function allBut(values: readonly number[], depth = 0, prefix = 0): [mask: number, value: number][] {
  const mask = depth === 0 ? 0 : 2 ** 32 - 2 ** (32 - depth)
  if (values.length === 0) return [[mask, prefix]]
  if (depth === 32) return []
  const bit = 2 ** (31 - depth)
  const isSet = (value: number): boolean => Math.floor(value / bit) % 2 === 1
  return [
    ...allBut(
      values.filter((value) => !isSet(value)),
      depth + 1,
      prefix,
    ),
    ...allBut(
      values.filter((value) => isSet(value)),
      depth + 1,
      prefix + bit,
    ),
  ]
}

function bitsOf(mask: number): number[] {
  return Array.from({ length: 32 }, (_, bit) => 2 ** bit).filter((bit) => Math.floor(mask / bit) % 2 === 1)
}
