// Runs JavaScript cells over bare frames.
import { expect } from 'vitest'
import { languageFiles } from '../../src/language-files.ts'
import { type Call, type Driver, GITHUB, type RunOptions } from '@sandbridge/core/test/kernel/drive.ts'

const files = await languageFiles('javascript')

export const js = (kernel: Driver, code: string, options: RunOptions = {}) =>
  kernel.run(code, {
    language: 'javascript',
    ...options,
    onCall: (call) => (call.method === 'language_files' ? { value: files } : options.onCall?.(call)),
  })

/** The value of a cell that must succeed, as it is shown. */
export const value = async (kernel: Driver, code: string, options?: RunOptions) => {
  const { status, value: shown, error } = await js(kernel, code, options)
  expect([status, error]).toEqual(['ok', undefined])
  return shown?.['text/plain']
}

/** Answers each call of a tool with `result`, and records the calls. */
export function github(result: unknown = { content: [], structuredContent: { number: 12 } }) {
  const calls: Call[] = []
  const onCall: RunOptions['onCall'] = (call) => {
    calls.push(call)
    return { value: result }
  }
  const asked = () => calls.map(({ params: { tool, args, kwargs } }) => [tool, args, kwargs])
  return { calls, asked, options: { servers: GITHUB, onCall } satisfies RunOptions }
}
