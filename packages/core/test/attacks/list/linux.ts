// Common parts of attacks on a real Linux process: they apply to every native provider and work in this machine's bare
// python3.

/** Attacks that need a real operating system under Python. */
export const NATIVE = {
  control: 'python',
  providers: ['podman', 'docker', 'bubblewrap', 'bubblewrap-image', 'bubblewrap-fork', 'kubernetes'],
} as const

/** Native attacks whose control works only as root. */
export const AS_ROOT = { ...NATIVE, root: true } as const

/**
 * Python that makes a system call with these arguments. It got through when the kernel executed it or checked its
 * arguments: any result except "not permitted" and "no such call".
 */
export function systemCall(numbers: { x64: number; arm64: number }, ...args: (number | string)[]): string {
  return `
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
number = {'x86_64': ${numbers.x64}, 'aarch64': ${numbers.arm64}}[platform.machine()]
result = libc.syscall(${['number', ...args].join(', ')})
if result >= 0 or ctypes.get_errno() not in (1, 38): print('ESCAPED', result, ctypes.get_errno())`
}

/** Python for use inside a block. */
export function indented(body: string, spaces: number): string {
  return body
    .trim()
    .split('\n')
    .map((line) => ' '.repeat(spaces) + line)
    .join('\n')
}

/** Python that runs a body in a child process, because it changes the process; the body calls escaped(). */
export function inChild(body: string): string {
  return `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
sys.stdout.flush()
child = os.fork()
if child == 0:
    escaped = lambda: os._exit(42)
    try:
${indented(body, 8)}
    finally:
        os._exit(1)
if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42: print('ESCAPED')`
}

/** Python that opens a file for writing and writes nothing. */
export function opensForWriting(path: string): string {
  return `import os\nos.close(os.open('${path}', os.O_WRONLY))\nprint('ESCAPED')`
}
