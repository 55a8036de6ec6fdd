// Compiles our list of system calls to classic BPF for bubblewrap. Two mistakes would go unnoticed: 32-bit calls of a
// 64-bit process, and comparing only half of an argument. Pure.
import { ALLOWED_SYSCALLS, ENOSYS, EPERM, FLOCK, MISSING_SYSCALL, RULED_SYSCALLS } from './python-syscalls.ts'
import type { ArgumentTest, RuledSyscall, Syscall } from './python-syscalls.ts'

export type FilterArch = 'x64' | 'arm64'

// linux/audit.h
const AUDIT_ARCH: Record<FilterArch, number> = { x64: 0xc0_00_00_3e, arm64: 0xc0_00_00_b7 }
const X32_SYSCALL_BIT = 0x40_00_00_00

// linux/seccomp.h: offsets in struct seccomp_data, and return values of a filter.
const NUMBER_AT = 0
const ARCH_AT = 4
const argumentAt = (index: number) => 16 + 8 * index
const KILL_PROCESS = 0x80_00_00_00
const ALLOW = 0x7f_ff_00_00
const fail = (errno: number) => 0x00_05_00_00 | errno

// linux/bpf_common.h
const LOAD = 0x20
const AND = 0x54
const JUMP_EQUAL = 0x15
const JUMP_GREATER = 0x25
const JUMP_AT_LEAST = 0x35
const JUMP_ANY_BIT = 0x45
const RETURN = 0x06

type Instruction = readonly [code: number, whenTrue: number, whenFalse: number, value: number]

/**
 * The filter for bubblewrap's --seccomp. Without `countedMemory` (the host counts all memory of the sandbox) it also
 * refuses memory that cannot be counted from inside.
 */
export function seccompFilter(arch: FilterArch, countedMemory: boolean): Buffer {
  return assemble([
    ...opening(arch),
    ...ranges(ALLOWED_SYSCALLS, arch).flatMap(allowRange),
    ...RULED_SYSCALLS.flatMap((syscall) => ruled(syscall, arch, countedMemory)),
    ...[MISSING_SYSCALL, FLOCK].flatMap((syscall): Instruction[] => [
      [JUMP_EQUAL, 0, 1, syscall[arch]!],
      [RETURN, 0, 0, fail(ENOSYS)],
    ]),
    [RETURN, 0, 0, fail(EPERM)],
  ])
}

/** A filter that refuses these calls, and ruled ones unless their tests pass; allows all others. */
export function refusingFilter(
  arch: FilterArch,
  { refused, ruled: rules }: { refused: readonly Syscall[]; ruled: readonly RuledSyscall[] },
): Buffer {
  return assemble([
    ...opening(arch),
    ...ranges(refused, arch).flatMap(([first, last]): Instruction[] => [
      [JUMP_AT_LEAST, 0, 2, first],
      [JUMP_GREATER, 1, 0, last],
      [RETURN, 0, 0, fail(EPERM)],
    ]),
    ...rules.flatMap((syscall) => ruled(syscall, arch, false)),
    [JUMP_EQUAL, 0, 1, MISSING_SYSCALL[arch]!],
    [RETURN, 0, 0, fail(ENOSYS)],
    [RETURN, 0, 0, ALLOW],
  ])
}

/** Loads the number of the call. Kills calls of another architecture. */
function opening(arch: FilterArch): Instruction[] {
  return [
    [LOAD, 0, 0, ARCH_AT],
    [JUMP_EQUAL, 1, 0, AUDIT_ARCH[arch]],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, NUMBER_AT],
    [JUMP_AT_LEAST, 0, 1, X32_SYSCALL_BIT],
    [RETURN, 0, 0, KILL_PROCESS],
  ]
}

function assemble(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8)
  program.forEach(([code, whenTrue, whenFalse, value], index) => {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(whenTrue, index * 8 + 2)
    bytes.writeUInt8(whenFalse, index * 8 + 3)
    bytes.writeUInt32LE(value, index * 8 + 4)
  })
  return bytes
}

type Range = [first: number, last: number]

/** Merges adjacent numbers into ranges: a third of the comparisons. */
function ranges(syscalls: readonly Syscall[], arch: FilterArch): Range[] {
  const numbers = syscalls
    .map((syscall) => syscall[arch])
    .filter((number) => number !== undefined)
    .toSorted((a, b) => a - b)
  const result: Range[] = []
  for (const number of numbers) {
    const last = result.at(-1)
    if (last && number === last[1] + 1) last[1] = number
    else result.push([number, number])
  }
  return result
}

function allowRange([first, last]: Range): Instruction[] {
  return [
    [JUMP_AT_LEAST, 0, 2, first],
    [JUMP_GREATER, 1, 0, last],
    [RETURN, 0, 0, ALLOW],
  ]
}

function ruled(syscall: RuledSyscall, arch: FilterArch, countedMemory: boolean): Instruction[] {
  const tests = countedMemory && syscall.uncountedMemoryOnly ? [] : syscall.allowedWhen
  const body = [...tests.flatMap((test) => refuseUnless(test)), [RETURN, 0, 0, ALLOW] satisfies Instruction]
  return [[JUMP_EQUAL, 0, body.length, syscall[arch]!], ...body]
}

/** Continues after these instructions if the test passes. */
function refuseUnless(test: ArgumentTest): Instruction[] {
  const load: Instruction = [LOAD, 0, 0, argumentAt(test.argument)]
  const refuse: Instruction = [RETURN, 0, 0, fail(EPERM)]
  if ('isOneOf' in test) {
    const { length } = test.isOneOf
    return [load, ...test.isOneOf.map((value, at): Instruction => [JUMP_EQUAL, length - at, 0, value]), refuse]
  }
  if ('isNoneOf' in test) {
    return [load, ...test.isNoneOf.flatMap((value): Instruction[] => [[JUMP_EQUAL, 0, 1, value], refuse])]
  }
  if ('hasNoneOf' in test) return [load, [JUMP_ANY_BIT, 0, 1, test.hasNoneOf], refuse]
  return [load, [AND, 0, 0, test.hasNotAllOf], [JUMP_EQUAL, 0, 1, test.hasNotAllOf], refuse]
}
