// Rows of what everyday tasks cost a model that makes typical mistakes: cells, tokens, and whether each error named the
// fix.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import {
  closeTestBridge,
  makeHome,
  openTestBridge,
  published,
} from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { agentTasks } from '../agent-tasks.ts'
import type { BenchRow } from '../row.ts'

const MOST_TOKENS_OUT = 6_000

export default async function agentRows(): Promise<BenchRow[]> {
  const home = makeHome()
  const folder = path.join(home, 'data')
  mkdirSync(folder)
  writeFileSync(path.join(folder, 'sales.csv'), sales())
  const servers = {
    everything: published.everything(),
    files: published.filesystem(folder),
    memory: published.memory(path.join(folder, 'memory.jsonl')),
  }
  writeFileSync(path.join(home, 'MCPs/servers.json'), JSON.stringify({ mcpServers: servers }))
  const bridge = await openTestBridge({ home })
  const tasks = agentTasks(folder)
  const counts = { cells: 0, tokensIn: 0, tokensOut: 0, mistakes: 0, mended: 0 }
  const unmended: string[] = []
  const wrong: string[] = []
  try {
    // As a client with a model does before the first task.
    await bridge.client.listTools()
    await bridge.run('print(runtime.capability_summary())')
    for (const { kind, steps } of tasks) {
      let isRight = true
      for (const { code, mistake, says } of steps) {
        const { text } = await bridge.call({ code, timeout: 100 })
        counts.cells += 1
        counts.tokensIn += countTokens(JSON.stringify({ code }))
        counts.tokensOut += countTokens(text)
        if (mistake === undefined) isRight &&= says.test(text)
        else {
          counts.mistakes += 1
          if (says.test(text)) counts.mended += 1
          else unmended.push(kind)
        }
      }
      if (!isRight) wrong.push(kind)
    }
  } finally {
    await closeTestBridge(bridge)
  }
  const right = tasks.length - wrong.length
  const { cells, tokensIn, tokensOut, mistakes, mended } = counts
  return [
    row('tasks with the right answer', named(right, tasks.length, wrong), 'all', right === tasks.length),
    row('mistakes whose answer named the mend', named(mended, mistakes, unmended), 'all', mended === mistakes),
    row('cells', String(cells), '–', null),
    row('tokens of code', String(tokensIn), '–', null),
    row('tokens of answers', String(tokensOut), `≤ ${MOST_TOKENS_OUT}`, tokensOut <= MOST_TOKENS_OUT),
  ]
}

function row(name: string, value: string, goal: string, ok: boolean | null): BenchRow {
  return { name, value, goal, ok }
}

const named = (count: number, of: number, missed: readonly string[]): string =>
  `${count} of ${of}${missed.length > 0 ? ` (not: ${missed.join(', ')})` : ''}`

function sales(): string {
  const rows = Array.from({ length: 200 }, (_, i) => `2026-10-${10 + (i % 20)},${i % 3 ? 'north' : 'south'},${i * 1.5}`)
  return `date,region,amount\n${rows.join('\n')}\n`
}
