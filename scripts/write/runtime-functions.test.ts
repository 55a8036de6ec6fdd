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
