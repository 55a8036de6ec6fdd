// The flows that a workflow declares: whose values go into which argument of which tool. Pure.
import type { DeclaredFlow, FlowFacts, FlowReason, ValueOrigin } from '@sandbridge/core/config/rules'
import { passedOn, targetsOf } from './flow.ts'

interface ToolCall {
  server: string
  tool: string
  args: Readonly<Record<string, unknown>>
}

/** The flows of a call. */
export function flowsOf({ server, tool, args }: ToolCall, facts: FlowFacts): DeclaredFlow[] {
  return Object.entries(args).flatMap(([argument, value]) => {
    const origins = originsOf({ [argument]: value }, facts)
    const servers = new Set(origins.flatMap((origin) => origin.servers))
    return [...servers].map((from) => ({ from, server, tool, argument }))
  })
}

/** @returns the call's undeclared flows; undefined if it has none */
export function undeclared(
  call: ToolCall,
  facts: FlowFacts,
  declared: readonly DeclaredFlow[],
): FlowReason | undefined {
  const isNew = (flow: DeclaredFlow): boolean =>
    !facts.isTrusted(flow.from) && !declared.some((one) => flowKeyOf(one) === flowKeyOf(flow))
  const found = flowsOf(call, facts).filter(isNew)
  if (found.length === 0) return undefined
  const from = [...new Set(found.map((flow) => flow.from))].toSorted()
  const values = [...new Set(found.map(({ argument }) => argument))].map((argument) => {
    const origins = originsOf({ [argument]: call.args[argument] }, facts)
    const names = new Set(origins.flatMap((origin) => origin.names))
    return { path: argument, value: '', names: [...names] }
  })
  return { values, from, all: facts.originOf(passedOn(call.args, facts)).servers, seen: [] }
}

export function flowKeyOf({ from, server, tool, argument }: DeclaredFlow): string {
  return JSON.stringify([from, server, tool, argument])
}

/** As a person reads them, one line each: `values of mail go into "to" of files.send`. */
export function flowLines(flows: readonly DeclaredFlow[]): string[] {
  return flows.map(
    ({ from, server, tool, argument }) => `values of ${from} go into ${JSON.stringify(argument)} of ${server}.${tool}`,
  )
}

/** Of the whole, and of each part that says where or to whom: these count even if they are short. */
function originsOf(args: Readonly<Record<string, unknown>>, facts: FlowFacts): ValueOrigin[] {
  return [facts.originOf(passedOn(args, facts)), ...targetsOf(args).map(({ value }) => facts.originOf(value, true))]
}
