// Checks the sandbox: cells try the network, their limits, and forbidden system calls.
import { createServer, type AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { OpenTenant } from '@sandbridge/core/bridge'
import type { Settings } from '@sandbridge/core/config/settings'
import { Kernel, type Session } from '@sandbridge/core/cell'
import { messageOf } from '@sandbridge/core/errors.ts'
import { chooseProvider } from '@sandbridge/core/isolation/detect'
import type { ProviderName } from '@sandbridge/core/isolation'
import { listen } from '@sandbridge/core/util/net'
import { SILENT } from '@sandbridge/core/util'
import type { Finding } from '@sandbridge/core/serve/cli'
import { type TryCell, tryCpus, tryEndless, tryProcesses, notTried } from './try-limits.ts'

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

const TIMEOUT_MS = 30_000
const MIB = 1 << 20

/**
 * @param session the session to test, one for all checks, because a start takes longer than a check. The memory check
 * at the end destroys it
 * @param quiet resolves when other checks are done: CPU shares are measured after that
 */
export async function checkSandbox(bridge: OpenTenant, session: Session, quiet: Promise<unknown>): Promise<Finding[]> {
  const tryCell = tryCellIn(session, bridge)
  const { settings } = bridge
  try {
    const walls = [
      await tryNetwork(tryCell),
      await tryFilter(tryCell),
      await tryProcesses(tryCell, settings),
      await tryEndless(tryCell),
    ]
    await quiet
    return [...walls, ...(await tryCpus(tryCell, settings)), await tryMemory(tryCell, settings)]
  } catch (error) {
    const message = `The sandbox could not be tried: ${messageOf(error)}`
    return [{ check: 'sandbox', level: 'broken', message, advice: 'See what `sandbridge doctor` says of engines.' }]
  }
}

/** Starts a sandbox as `auto` does, and ends it. @throws what keeps it from starting */
export async function tryProvider(runtime: ProviderName, settings: Settings): Promise<void> {
  const { provider } = await chooseProvider({ ...settings, runtime, packages: [] }, SILENT)()
  await provider.prepare()
  const kernel = await Kernel.attach(await provider.start(settings), TIMEOUT_MS)
  await kernel.dispose()
}

function tryCellIn(session: Session, bridge: OpenTenant): TryCell {
  return async (code, timeoutMs = TIMEOUT_MS) => {
    const { status, stdout } = await bridge.cells.run(session, { code, timeoutMs })
    const { provider } = await bridge.findProvider()
    return { status, printed: stdout.trim(), provider: provider.name }
  }
}

/** Uses only addresses of this machine: nothing is sent elsewhere. */
async function tryNetwork(tryCell: TryCell): Promise<Finding> {
  const addresses = Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).flatMap(({ family, address }) => (family === 'IPv4' ? address : [])),
  )
  const opened = await Promise.all(addresses.map((address) => listenAt(address).catch(() => undefined)))
  const listening = opened.flatMap((one) => one ?? [])
  const places = listening.map(({ address, port }) => `(${JSON.stringify(address)}, ${port})`)
  const code = [
    'import socket',
    'reached = []',
    `for place in [${places.join(', ')}]:`,
    '    try:',
    '        socket.create_connection(place, timeout=2).close()',
    '        reached.append(place[0])',
    '    except BaseException:',
    '        pass',
    'print(",".join(reached))',
  ].join('\n')
  try {
    await tryCell(code)
    // Counts received connections instead of trusting the cell's output.
    const reached = listening.filter((one) => one.connections() > 0).map(({ address }) => address)
    if (reached.length === 0) {
      const message = `A cell cannot reach this machine at ${listening.length} addresses.`
      return { check: 'network', level: 'ok', message }
    }
    const message = `A cell has reached this machine at ${reached.join(', ')}: the sandbox has a network.`
    const advice = 'Do not run untrusted code here. Set MCP_BRIDGE_RUNTIME to another sandbox, and report this.'
    return { check: 'network', level: 'broken', message, advice }
  } finally {
    for (const one of listening) one.close()
  }
}

async function listenAt(address: string) {
  let count = 0
  const server = createServer((socket) => {
    count += 1
    socket.destroy()
  })
  await listen(server, { port: 0, host: address })
  const { port } = server.address() as AddressInfo
  return { address, port, connections: () => count, close: () => server.close() }
}

async function tryMemory(tryCell: TryCell, { memoryBytes }: Pick<Settings, 'memoryBytes'>): Promise<Finding> {
  const wanted = memoryBytes + 128 * MIB
  const { status } = await tryCell(
    `held = []\nfor _ in range(${Math.ceil(wanted / MIB)}):\n    held.append(bytearray(b"x") * ${MIB})\nlen(held)`,
  )
  const limit = `${Math.round(memoryBytes / MIB)} MiB`
  if (status !== 'ok') return { check: 'memory', level: 'ok', message: `A cell cannot take more than ${limit}.` }
  const advice = 'See docs/security.md, "Memory without a cgroup", for what this engine can hold.'
  return { check: 'memory', level: 'warning', message: `A cell has taken more than ${limit}.`, advice }
}

// Whether a native sandbox has the filter: a cell's status, and two harmless calls that only the filter refuses.
export async function tryFilter(tryCell: TryCell): Promise<Finding> {
  const check = 'seccomp'
  const { status, printed, provider } = await tryCell(CODE)
  if (provider === 'pyodide')
    return { check, level: 'ok', message: 'Python runs as WebAssembly, which makes no system calls.' }
  if (status !== 'ok') return notTried(check, status)
  const { mode, allowed } = JSON.parse(printed) as { mode: string | null; allowed: string[] }
  if (mode === MODE_FILTER && allowed.length === 0)
    return { check, level: 'ok', message: 'Cells run under a filter of system calls.' }
  const why = mode === MODE_FILTER ? `it allows ${allowed.join(', ')}` : 'there is no filter'
  const message = `Cells run without our filter of system calls: ${why}.`
  const engine = 'Check that the engine supports seccomp (`podman info`, `docker info`)'
  return { check, level: 'broken', message, advice: `${engine}, or set MCP_BRIDGE_RUNTIME to another sandbox.` }
}
