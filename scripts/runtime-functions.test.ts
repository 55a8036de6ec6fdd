import * as z from 'zod'
import { expect, it } from 'vitest'
import { method } from '../src/calls/methods/method.ts'
import { runtimeFunctions } from './runtime-functions.mjs'

it('a method with inRuntime becomes a function of Python with its params, and one without becomes none', () => {
  const params = z.object({
    zone: z.string().max(100),
    styles: z
      .array(z.enum(['long', 'short']))
      .max(2)
      .nullish(),
    count: z.int().default(1),
  })
  const methods = {
    time_in: method(params, () => '', { doc: 'The time there.', returns: 'str' }),
    upload: method(params, () => ''),
  }
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
