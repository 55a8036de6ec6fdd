// Rows of jails: how much longer a server takes to list its tools in a jail. Measured alternately, because other load
// on the machine changes.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ServerSandbox, StdioServer } from '../../core/src/config/entries/server-definition.ts'
import { processContext } from '../../core/src/config/settings/client-context.ts'
import { createLog } from '../../core/src/util/log.ts'
import { UpstreamSet } from '../../core/src/upstream/upstream-set.ts'
import { findBubblewrapJail } from '@sandbridge/jail/bubblewrap-jail.ts'
import { published } from '@sandbridge/core/test/upstream/definitions.ts'
import { median, ms, ratio, timed } from '../../../bench/measure.ts'
import type { BenchRow } from '../../../bench/row.ts'

const SAMPLES = 21
const LIMIT = 1.2

export default async function jailRows(): Promise<BenchRow[]> {
  const goal = `≤ ${LIMIT.toFixed(2)} ×`
  const name = "a jailed server's start ÷ the same unjailed (bubblewrap)"
  const jail = await findBubblewrapJail()
  if (typeof jail === 'string') return [{ name, value: jail, goal, ok: null }]
  const home = mkdtempSync(path.join(tmpdir(), 'sb-bench-'))
  const start = async (sandbox: ServerSandbox | undefined): Promise<number> => {
    const definition = published('everything')
    const transport: StdioServer = { ...(definition.transport as StdioServer), ...(sandbox && { sandbox }) }
    const upstreams = new UpstreamSet({
      definitions: [{ ...definition, transport }],
      log: createLog('error', () => {}),
      clientInfo: { name: 'bench', version: '1' },
      context: { ...processContext(), cwd: home },
      jail: { home, stateDir: path.join(home, 'MCPs'), hidden: () => [] },
    })
    const taken = await timed(() => upstreams.listTools(definition.name))
    await upstreams.close()
    return taken
  }
  const filtered = { network: { allowedDomains: ['*'] } }
  for (const sandbox of [undefined, {}, filtered]) await start(sandbox)
  const bare: number[] = []
  const jailed: number[] = []
  const behindProxy: number[] = []
  for (let index = 0; index < SAMPLES; index += 1) {
    bare.push(await start(undefined))
    jailed.push(await start({}))
    behindProxy.push(await start(filtered))
  }
  rmSync(home, { recursive: true, force: true })
  const factor = median(jailed) / median(bare)
  const proxied = median(behindProxy) / median(bare)
  return [
    { name, value: `${ratio(factor)} (${ms(median(jailed))})`, goal, ok: factor <= LIMIT },
    {
      name: '… with the network through the filtering proxy',
      value: `${ratio(proxied)} (${ms(median(behindProxy))})`,
      goal: '–',
      ok: null,
    },
  ]
}
