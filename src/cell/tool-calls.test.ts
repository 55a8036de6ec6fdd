import { describe, expect, it } from 'vitest'
import type { CallFrame } from '../protocol/frames.ts'
import { type ToolCallProgress, ToolCalls } from './tool-calls.ts'

const call = (tool: unknown, method = 'call_tool') =>
  ({ type: 'call', id: 1, cell: 1, method, params: { server: 'github', tool } }) as CallFrame
const { signal } = new AbortController()

describe('ToolCalls', () => {
  it('tells of the call in flight, and counts', async () => {
    const seen: ToolCallProgress[] = []
    const calls = new ToolCalls((progress) => void seen.push(progress))
    const finish: (() => void)[] = []
    const handler = calls.watch(() => new Promise((resolve) => void finish.push(() => resolve(null))))
    const [first, second] = [handler(call('a'), signal), handler(call('b'), signal)]
    finish[0]!()
    await first
    finish[1]!()
    await second
    const line = ({ name, number, total }: ToolCallProgress) => `${name} ${number}/${total}`
    expect(seen.map(line)).toEqual(['github.a 1/1', 'github.a 1/2', 'github.b 2/2'])
  })

  it('sums up by tool, says what is not over, and passes results and errors on', async () => {
    const calls = new ToolCalls()
    const handler = calls.watch(async ({ params }) => {
      const { tool } = params as { tool: string }
      if (tool === 'fails') throw new Error('no')
      if (tool === 'hangs') return new Promise(() => {})
      return tool
    })
    expect(calls.summary()).toBeUndefined()
    expect(await handler(call('a'), signal)).toBe('a')
    await handler(call('a'), signal)
    await expect(handler(call('fails'), signal)).rejects.toThrow('no')
    void handler(call('hangs'), signal)
    await handler(call('docs', 'query_tool_docs'), signal)
    const summary = calls.summary()!
    expect(summary).toMatch(/^Time in tool calls: /)
    expect(summary).toMatch(/github\.a 2 calls, 0\.0 s/)
    expect(summary).toMatch(/github\.fails 0\.0 s/)
    expect(summary).toMatch(/github\.hangs 0\.0 s, still running/)
    expect(summary).not.toContain('docs')
  })

  it('keeps a bounded number of names of bounded length', async () => {
    const calls = new ToolCalls()
    const handler = calls.watch(async () => null)
    for (let index = 0; index < 1_000; index += 1) await handler(call(`${index}${'x'.repeat(10_000)}`), signal)
    await handler(call(7), signal)
    expect(calls.summary()!.length).toBeLessThan(1_500)
    expect(calls.summary()).toMatch(/96 more/)
  })
})
