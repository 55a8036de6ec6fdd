// @module-tag whole: a fault that takes seconds to make
// This file verifies that a server that writes endlessly affects neither the bridge's memory nor its other calls. Linux
// only: memory is read from /proc.
import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { fixtureServer } from '../support/bridges/bridge-process.ts'
import { startBridge } from '../support/bridges/start-bridge.ts'
import { needsLinux } from '../support/suite/needs.ts'

const MIB = 2 ** 20

/** The peak memory of the process since its start. */
function peakBytes(pid: number): number {
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}

describe('a server that floods', () => {
  beforeEach(() => needsLinux('the peak of memory is read from /proc'))
  it.each([
    // Room for what is read at once, and for garbage that is not collected yet.
    ['stderr with 300 MiB', 'stderr(mebibytes=300)', 150 * MIB],
    ['its client with 300,000 log messages', 'log(count=300_000)', 40 * MIB],
  ])(
    'a server that floods %s is read and its output dropped, and another server answers meanwhile',
    async (_, flood, roomBytes) => {
      const bridge = await startBridge({
        ownProcess: true,
        servers: { loud: fixtureServer('raw.mjs', 'floods'), calm: fixtureServer('raw.mjs', 'good') },
      })
      await bridge.run('await mcp_loud.echo(text="warm")\nawait mcp_calm.echo(text="warm")')
      // What searches need is loaded some time after the first tools are listed.
      await bridge.run('await runtime.search_tool_docs("echo")')
      const before = peakBytes(bridge.pid)
      const code = [
        'import asyncio',
        `flood = asyncio.ensure_future(mcp_loud.${flood})`,
        'answers = [await mcp_calm.echo(text=str(n)) for n in range(50)]',
        'len(answers), await flood',
      ].join('\n')
      expect(await bridge.run(code, { timeout: 100 })).toBe("(50, 'done')")
      expect(peakBytes(bridge.pid) - before).toBeLessThan(roomBytes)
      expect(await bridge.run('await mcp_loud.echo(text="after")')).toBe("'after'")
    },
  )
})
