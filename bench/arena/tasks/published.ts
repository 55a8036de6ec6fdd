// Tasks of published benchmarks. A Python that has their package serves each of their services as an MCP server, and
// their own checkers look at the end state.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { GoldCall, Task } from '../task.ts'

export type Source = keyof typeof PYTHONS

/** Which Python has the package of a benchmark. */
export const PYTHONS = { agentdojo: 'AGENTDOJO_PYTHON', bfcl: 'BFCL_PYTHON', tau2: 'TAU2_PYTHON' } as const

interface Listed {
  id: string
  servers: string[]
  exchanges: { prompt: string; calls: GoldCall[]; answer: string }[]
}

/** The tasks of a benchmark. Their program ends with this process. */
export async function publishedTasks(source: Source): Promise<Task[]> {
  const python = process.env[PYTHONS[source]]
  if (python === undefined) throw new Error(`Set ${PYTHONS[source]} to a Python that has the package ${source}`)
  const url = await startHost(python, source)
  const ask = async (what: string, ...args: unknown[]): Promise<unknown> => {
    const body = JSON.stringify({ do: what, args })
    const response = await fetch(`${url}/control`, { method: 'POST', body })
    return response.json()
  }
  const listed = (await ask('tasks')) as Listed[]
  return listed.map(({ id, servers, exchanges }) => ({
    id,
    source,
    size: exchanges.flatMap(({ calls }) => calls).length,
    open: async () => {
      await ask('open', id)
      return {
        servers: Object.fromEntries(servers.map((name) => [name, { url: `${url}/mcp/${name}` }])),
        // Nothing says which of their calls depend on each other.
        exchanges: exchanges.map(({ prompt, calls, answer }) => ({
          prompt,
          answer,
          steps: calls.map((call) => [call]),
        })),
        begin: async (exchange) => void (await ask('begin', exchange)),
        check: async (answer) => ((await ask('check', answer)) ?? undefined) as string | undefined,
        close: () => Promise.resolve(),
        host: ask,
      }
    },
  }))
}

async function startHost(python: string, source: Source): Promise<string> {
  const file = path.join(import.meta.dirname, '../python/host.py')
  const program = spawn(python, [file, source], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(program.stdout)
  const [port] = (await Promise.race([
    once(lines, 'line'),
    once(program, 'exit').then(([code]) => Promise.reject(new Error(`${python} ended with ${code}`))),
  ])) as [string]
  lines.close()
  // While it waits for its next request, it does not keep this process alive.
  for (const held of [program, program.stdin as Socket, program.stdout as Socket]) held.unref()
  return `http://127.0.0.1:${port}`
}
