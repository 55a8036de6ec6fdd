// The text of a question about calls. The bridge writes all of it, or shows it as data. Pure.
import type { Decision } from '../../policy/policy.ts'
import { ruleName } from '../../policy/rule.ts'
import { visibleInline } from '../../text/visible.ts'
import { argumentLine, argumentLines } from './call-text.ts'
import type { GrantableCall } from './grants.ts'

export interface ShownCall {
  call: GrantableCall
  decision: Decision
  /** False when some arguments are not known before the call is made. */
  isExact?: boolean
}

/** A longer text is not read; further calls become another question. */
const MAX_CHARS = 20_000

/** @returns the text, and how many of the calls it shows */
export function callsText(calls: readonly ShownCall[], about: 'calls' | 'cell'): { text: string; shownCount: number } {
  const [first] = calls as [ShownCall]
  const name = nameOf(first)
  if (calls.length === 1) {
    const lines = argumentLines(first.call.args).map((line) => `  ${line}`)
    return { text: [`${opening(about)} to call ${name}`, ...lines, reasonOf(first)].join('\n'), shownCount: 1 }
  }
  const lines: string[] = []
  let chars = 0
  for (const one of calls) {
    const prefix = about === 'cell' ? `${nameOf(one)}: ` : ''
    const given = one.isExact === false ? UNKNOWN : argumentLine(one.call.args)
    const line = `  ${lines.length + 1}. ${prefix}${given}`
    chars += line.length
    if (lines.length > 0 && chars > MAX_CHARS) break
    lines.push(line)
  }
  const what = about === 'cell' ? `make ${lines.length} calls` : `call ${name} ${lines.length} times`
  const more = calls.length - lines.length
  const rest = more === 0 ? [] : [`${more} more calls follow; they are asked about separately.`]
  const reasons = [...new Set(calls.slice(0, lines.length).map(reasonOf))]
  return { text: [`${opening(about)} to ${what}:`, ...lines, ...rest, ...reasons].join('\n'), shownCount: lines.length }
}

function opening(about: 'calls' | 'cell'): string {
  return about === 'cell' ? 'Before it runs: the code wants' : 'The code that is running wants'
}

function nameOf({ call }: ShownCall): string {
  return visibleInline(`${call.server}.${call.tool}`)
}

const UNKNOWN = '(arguments that are not known yet: "yes, this once" asks again)'

function reasonOf({ decision: { by, rule } }: ShownCall): string {
  if (by === 'change') return 'Asked because the tool has changed since it was first listed: sandbridge servers diff'
  if (rule === undefined) return 'Asked because the tool is not marked read-only (MCP_BRIDGE_PERMISSIONS=careful).'
  return `Asked because of the rule ${visibleInline(ruleName(rule))}.${rule.reason === undefined ? '' : ` ${rule.reason}`}`
}
