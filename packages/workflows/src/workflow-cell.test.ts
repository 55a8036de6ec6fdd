import { expect, it } from 'vitest'
import { codeFor } from './workflow-cell.ts'

const run = (type: string, given: unknown): string => {
  const parameters = [{ name: 'x', type, required: true }]
  const workflow = { title: 'ratio', uses: [], parameters }
  const tool = { name: 'ratio', version: 1, workflow, signature: '(x)', description: '', source: '', dependencies: [] }
  return codeFor(tool as unknown as Parameters<typeof codeFor>[0], { x: given })
    .split('\n')
    .at(-1)!
}

it.each([
  ['float', 3, '3.0'],
  ['float | None', -2, '-2.0'],
  ['Optional[float]', null, 'null'],
  ['float', 0.5, '0.5'],
  // Python reads these as floats already.
  ['float', 1e21, '1e+21'],
  ['int', 3, '3'],
  ['', 3, '3'],
])('a whole number reaches a parameter of the type %s as Python expects: %s', (type, given, written) => {
  expect(run(type, given)).toBe(`await workflows.ratio(**_json.loads("{\\"x\\":${written}}"))`)
})
