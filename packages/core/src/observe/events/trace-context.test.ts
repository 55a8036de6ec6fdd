// This file verifies that a trace is read from `_meta` and passed on according to W3C Trace Context, and that invalid
// values are dropped.
import { expect, it } from 'vitest'
import { readTraceContext, traceMeta } from './trace-context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

it('readTraceContext reads the trace that a client sends', () => {
  const meta = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'a=1', baggage: 'user=x', progressToken: 1 }
  expect(readTraceContext(meta)).toEqual({
    traceId: TRACE,
    parentId: SPAN,
    sampled: true,
    state: 'a=1',
    baggage: 'user=x',
  })
  expect(readTraceContext({ traceparent: `00-${TRACE}-${SPAN}-00` })).toMatchObject({ sampled: false })
  expect(readTraceContext({ traceparent: `01-${TRACE}-${SPAN}-01-later` })).toMatchObject({ sampled: true })
})

it.each([
  undefined,
  7,
  '',
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01-more`,
  `00-${TRACE}-${SPAN}`,
])('readTraceContext ignores %s', (traceparent) => {
  expect(readTraceContext({ traceparent })).toBeUndefined()
})

it('readTraceContext leaves out a state or baggage that is too long or holds control characters', () => {
  const traceparent = `00-${TRACE}-${SPAN}-01`
  expect(readTraceContext({ traceparent, tracestate: 'x'.repeat(513), baggage: 'a\nb' })).toEqual({
    traceId: TRACE,
    parentId: SPAN,
    sampled: true,
  })
})

it('traceMeta names the span of the call where the bridge sends spans, and that of the client otherwise', () => {
  const trace = { traceId: TRACE, parentId: SPAN, sampled: true, state: 'a=1', baggage: 'b=2' }
  const span = 'aaaaaaaaaaaaaaaa'
  expect(traceMeta({ ...trace, isExported: true }, span)).toEqual({
    traceparent: `00-${TRACE}-${span}-01`,
    tracestate: 'a=1',
    baggage: 'b=2',
  })
  expect(traceMeta(trace, span)).toMatchObject({ traceparent: `00-${TRACE}-${SPAN}-01` })
  expect(traceMeta({ traceId: TRACE, sampled: false, isExported: true }, span)).toEqual({
    traceparent: `00-${TRACE}-${span}-00`,
  })
  expect(traceMeta({ traceId: TRACE, sampled: false }, span)).toBeUndefined()
  expect(traceMeta(undefined, span)).toBeUndefined()
})
