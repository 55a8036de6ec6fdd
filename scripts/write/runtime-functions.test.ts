import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { runtimeFunctions } from './runtime-functions.mjs'

it('a method with inRuntime becomes a function of Python with its params, and one without becomes none', () => {
  const schema = {
    properties: {
      zone: { type: 'string' },
      styles: { anyOf: [{ type: 'array', items: { enum: ['long', 'short'] } }, { type: 'null' }] },
      count: { type: 'integer', default: 1 },
    },
    required: ['zone'],
  }
  const inRuntime = { doc: 'The time there.', returns: 'str', params: { toJSONSchema: () => schema } }
  const methods = { time_in: Object.assign(() => {}, { inRuntime }), upload: () => {} }
  const [, written] = runtimeFunctions(methods).split('\n\n\n')
  expect(written).toBe(
    `
def time_in(zone: str, styles: list[Literal["long", "short"]] | None = None, count: int | None = None) -> str:
    """The time there."""
    found: str = bridge.ask_sync("time_in", zone=zone, styles=styles, count=count)
    return found
`.trimStart(),
  )
})

it('a method that returns records imports their class from where it is', () => {
  const inRuntime = { doc: 'All.', returns: 'list[Record]', params: { toJSONSchema: () => ({}) } }
  const written = runtimeFunctions({ all: Object.assign(() => {}, { inRuntime }) })
  const [, module] = /^from \.\.([\w.]+) import Record$/m.exec(written) ?? []
  const file = `../../packages/core/python/sandbridge_kernel/${module?.replaceAll('.', '/')}.py`
  expect(readFileSync(new URL(file, import.meta.url), 'utf8')).toContain('\nclass Record(')
})
