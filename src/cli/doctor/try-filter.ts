// Checks that a native sandbox runs under the system call filter: a cell reads its status, and makes two harmless calls
// that only the filter refuses.
import type { Finding } from './finding.ts'
import { notTried, type TryCell } from './try-limits.ts'

// Numbers of x86_64 and aarch64. Without a filter, every user may make these calls.
const CODE = `
import ctypes, json, platform, re
column = {"x86_64": 0, "aarch64": 1}.get(platform.machine())
calls = {"memfd_create": ((319, 279), (b"", 0)), "keyctl": ((250, 219), (0, -3))}
libc = ctypes.CDLL(None, use_errno=True)
allowed = [] if column is None else [name for name, (numbers, args) in calls.items() if libc.syscall(numbers[column], *args) >= 0]
found = re.search(r"^Seccomp:\\s*(\\d)", open("/proc/self/status").read(), re.M)
print(json.dumps({"mode": found and found[1], "allowed": allowed}))`

const MODE_FILTER = '2'

export async function tryFilter(tryCell: TryCell): Promise<Finding> {
  const check = 'seccomp'
  const { status, printed, provider } = await tryCell(CODE)
  if (provider === 'pyodide') {
    return { check, level: 'ok', message: 'Python runs as WebAssembly, which makes no system calls of its own.' }
  }
  if (status !== 'ok') return notTried(check, status)
  const { mode, allowed } = JSON.parse(printed) as { mode: string | null; allowed: string[] }
  if (mode === MODE_FILTER && allowed.length === 0) {
    return { check, level: 'ok', message: 'Cells run under a filter of system calls.' }
  }
  const why = mode === MODE_FILTER ? `it allows ${allowed.join(', ')}` : 'there is no filter'
  return {
    check,
    level: 'broken',
    message: `Cells run without our filter of system calls: ${why}.`,
    advice:
      'Check that the engine supports seccomp (`podman info`, `docker info`), or set MCP_BRIDGE_RUNTIME to another sandbox.',
  }
}
