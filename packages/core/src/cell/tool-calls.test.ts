import { expect, it } from 'vitest'
import type { CallFrame } from './protocol/frames.ts'
import { type ToolCallProgress, ToolCalls } from './tool-calls.ts'

const call = (tool: unknown, method = 'call_tool') =>
  ({ type: 'call', id: 1, cell: 1, method, params: { server: 'github', tool } }) as CallFrame

it('the tool calls of a cell are counted, and the one in flight is named', () => {
  const seen: ToolCallProgress[] = []
  const calls = new ToolCalls((progress) => void seen.push(progress))
  const ends = [calls.begin(call('a')), calls.begin(call('b'))]
  for (const end of ends) end!()
  const line = ({ name, number, total }: ToolCallProgress) => `${name} ${number}/${total}`
  expect(seen.map(line)).toEqual(['github.a 1/1', 'github.a 1/2', 'github.b 2/2'])
})

it("the summary of tool calls counts by tool, names unfinished ones, and leaves out the kernel's own calls", () => {
  const calls = new ToolCalls()
  expect(calls.summary()).toBeUndefined()
  calls.begin(call('a'))!()
  calls.begin(call('a'))!()
  calls.begin(call('b'))!()
  calls.begin(call('hangs'))
  expect(calls.begin(call('docs', 'query_tool_docs'))).toBeUndefined()
  const summary = calls.summary()!
  expect(summary).toMatch(/^Time in tool calls: /)
  expect(summary).toMatch(/github\.a 2 calls, 0\.0 s/)
  expect(summary).toMatch(/github\.b 0\.0 s/)
  expect(summary).toMatch(/github\.hangs 0\.0 s, still running/)
  expect(summary).not.toContain('docs')
})

it('the summary of tool calls keeps a bounded number of names of bounded length', () => {
  const calls = new ToolCalls()
  for (let index = 0; index < 1_000; index += 1) calls.begin(call(`${index}${'x'.repeat(10_000)}`))!()
  calls.begin(call(7))!()
  expect(calls.summary()!.length).toBeLessThan(1_500)
  expect(calls.summary()).toMatch(/96 more/)
})
