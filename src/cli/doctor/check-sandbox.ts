// Checks that the sandbox holds: cells try to reach the network, to exceed their limits, and to make forbidden system
// calls.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { AddressInfo } from 'node:net'
import type { Bridge } from '../../bridge/bridge.ts'
import type { Settings } from '../../config/settings/settings.ts'
import { messageOf } from '../../errors.ts'
import type { Session } from '../../cell/session/session.ts'
import type { Finding } from './finding.ts'
import { tryFilter } from './try-filter.ts'
import { type TryCell, tryCpus, tryEndless, tryProcesses } from './try-limits.ts'

const TIMEOUT_MS = 30_000
const MIB = 1 << 20

/**
 * @param session the session to test, one for all checks, because a start takes longer than a check. The memory check
 * at the end destroys it
 * @param quiet resolves when other checks are done: CPU shares are measured after that
 */
export async function checkSandbox(bridge: Bridge, session: Session, quiet: Promise<unknown>): Promise<Finding[]> {
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

function tryCellIn(session: Session, bridge: Bridge): TryCell {
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
  server.listen(0, address)
  await once(server, 'listening')
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
