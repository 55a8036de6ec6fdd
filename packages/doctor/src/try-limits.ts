// Checks that limits hold: a cell takes more threads and CPU than allowed, and runs forever.
import { cpus } from 'node:os'
import type { Settings } from '@sandbridge/core/config/settings'
import type { ProviderName } from '@sandbridge/core/isolation'
import { count } from '@sandbridge/core/util/text'
import type { Finding } from '@sandbridge/core/serve/cli'

/** Runs a cell in the sandbox that is checked, and returns how it ended and what it printed. */
export type TryCell = (
  code: string,
  timeoutMs?: number,
) => Promise<{ status: string; printed: string; provider: ProviderName }>

const REPORT = 'Do not run untrusted code here. Set MCP_BRIDGE_RUNTIME to another sandbox, and report this.'
/** Room for the threads that the kernel already has. */
const BEYOND = 64
const ENDLESS_MS = 1_000
const BURN_SECONDS = 1
/** Tolerance of the time measurement. */
const SLACK = 1.25

export async function tryProcesses(tryCell: TryCell, { pidsCount }: Pick<Settings, 'pidsCount'>): Promise<Finding> {
  // Threads, because the limit counts them too: a process would need memory of its own.
  const code = `
import threading
threading.stack_size(65536)
over = threading.Event()
threads = []
try:
    for _ in range(${pidsCount + BEYOND}):
        thread = threading.Thread(target=over.wait)
        thread.start()
        threads.append(thread)
except RuntimeError:
    pass
over.set()
print(len(threads))`
  const { status, printed } = await tryCell(code)
  const check = 'processes'
  const limit = `MCP_BRIDGE_PIDS=${pidsCount}`
  if (status === 'killed') return { check, level: 'ok', message: `A cell with more threads than ${limit} is stopped.` }
  if (status !== 'ok') return notTried(check, status)
  const started = Number(printed)
  if (started < pidsCount + BEYOND)
    return { check, level: 'ok', message: `A cell can start ${count(started, 'thread')} (${limit}).` }
  const message = `A cell has started ${started} threads: ${limit} has no effect.`
  return { check, level: 'broken', message, advice: REPORT }
}

/** Checks only where a limit is set and this machine has more CPUs. */
export async function tryCpus(tryCell: TryCell, { cpus: limit }: Pick<Settings, 'cpus'>): Promise<Finding[]> {
  const check = 'cpus'
  if (limit === undefined) return []
  if (cpus().length <= limit) {
    const message = `MCP_BRIDGE_CPUS=${limit} cannot be tried: this machine has ${count(cpus().length, 'CPU')}.`
    return [{ check, level: 'ok', message }]
  }
  const burners = Math.min(cpus().length, Math.ceil(limit) + 1)
  const code = `
import os, time
children = []
for _ in range(${burners}):
    child = os.fork()
    if child == 0:
        end = time.monotonic() + ${BURN_SECONDS}
        while time.monotonic() < end:
            pass
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
times = os.times()
print(times.children_user + times.children_system)`
  const { status, printed, provider } = await tryCell(code)
  if (provider === 'pyodide' || provider === 'bubblewrap') return []
  if (status !== 'ok') return [notTried(check, status)]
  const used = Number(printed) / BURN_SECONDS
  const share = `A cell has used ${used.toFixed(1)} CPUs (MCP_BRIDGE_CPUS=${limit}).`
  if (used <= limit * SLACK) return [{ check, level: 'ok', message: share }]
  const advice = 'This engine does not enforce the limit: see docs/sandboxes.md, "Containers".'
  return [{ check, level: 'warning', message: share, advice }]
}

export async function tryEndless(tryCell: TryCell): Promise<Finding> {
  const check = 'time'
  const { status } = await tryCell('while True: pass', ENDLESS_MS)
  if (status === 'timeout') return { check, level: 'ok', message: 'An endless cell is stopped at its time limit.' }
  const message = `An endless cell was not stopped at its time limit. Its status was ${status}.`
  return { check, level: 'broken', message, advice: REPORT }
}

export function notTried(check: string, status: string): Finding {
  const advice =
    'Run `sandbridge doctor --deep` again. If it stays so, report it with `sandbridge doctor --report FILE`.'
  return { check, level: 'warning', message: `This could not be tried: the cell ended as ${status}.`, advice }
}
