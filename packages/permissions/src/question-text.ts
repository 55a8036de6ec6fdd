// The text of a question about calls. The bridge writes all of it, or shows it as data. Pure.
import { type Decision, ruleName, ruleReason } from '@sandbridge/core/config/rules'
import { flowText } from './rules/flow.ts'
import { visibleInline } from '@sandbridge/core/util/text'
import { argumentLine, argumentLines, quotedUnless, visibleBlanks } from './call-text.ts'
import type { GrantableCall } from './grants.ts'

export interface ShownCall {
  call: GrantableCall
  decision: Decision
  /** False when some arguments are not known before the call is made. */
  isExact?: boolean
}

/** Longest text for a client's form; further calls become another question. */
export const MAX_ASKED_CHARS = 20_000

/**
 * @returns the text, and how many of the calls it shows: as many as fit, and at least the first one, whose text may be
 * longer
 */
export function callsText(calls: readonly ShownCall[], about: 'calls' | 'cell'): { text: string; shownCount: number } {
  const [first] = calls as [ShownCall]
  const name = nameOf(first)
  if (calls.length === 1) {
    const lines = argumentLines(first.call.args).map((line) => `  ${line}`)
    return { text: [`${OPENINGS[about]} to call ${name}`, ...lines, reasonOf(first)].join('\n'), shownCount: 1 }
  }
  const lines: string[] = []
  let chars = 0
  for (const one of calls) {
    const prefix = about === 'cell' ? `${nameOf(one)}: ` : ''
    const given = one.isExact === false ? UNKNOWN : argumentLine(one.call.args)
    const line = `  ${lines.length + 1}. ${prefix}${given}`
    chars += line.length
    if (lines.length > 0 && chars > MAX_ASKED_CHARS) break
    lines.push(line)
  }
  const what = about === 'cell' ? `make ${lines.length} calls` : `call ${name} ${lines.length} times`
  const more = calls.length - lines.length
  const rest = more === 0 ? [] : [`${more} more calls follow; they are asked about separately.`]
  const reasons = [...new Set(calls.slice(0, lines.length).map(reasonOf))]
  return {
    text: [`${OPENINGS[about]} to ${what}:`, ...lines, ...rest, ...reasons].join('\n'),
    shownCount: lines.length,
  }
}

/** What an answer that trusts the text of a server means. */
export function trustText(server: string): string {
  const name = visibleInline(server)
  return `Trusting what ${name} says means: no question because of its text any more, in any session. Do not trust it if others can write what it returns, as with mail or web pages.`
}

const OPENINGS = { cell: 'Before it runs: the code wants', calls: 'The code that is running wants' }

/**
 * What a question is about, whenever it was asked: the same code may ask before it runs or while it does, since the
 * tools of its servers may not be known at first.
 */
export function withoutOpening(text: string): string {
  const opening = Object.values(OPENINGS).find((one) => text.startsWith(one))
  return opening === undefined ? text : text.slice(opening.length)
}

/** Quoted unless plain, so that a tool's name cannot look like an argument, or like a tool of another server. */
function nameOf({ call }: ShownCall): string {
  return `${quotedUnless(/^[\w.@/-]+$/, call.server)}.${quotedUnless(/^[\w@/-]+$/, call.tool)}`
}

const UNKNOWN = '(arguments that are not known yet: you are asked again when they are)'

function reasonOf({ decision }: ShownCall): string {
  const reason = decision.by === 'flow' ? '' : askedBecause(decision)
  if (!decision.flow) return reason
  const flow = visibleBlanks(`Asked because of what it uses (MCP_BRIDGE_FLOW): ${flowText(decision.flow)}.`)
  return reason === '' ? flow : `${reason}\n${flow}`
}

function askedBecause({ by, rule }: Decision): string {
  if (by === 'change') return 'Asked because the tool has changed since it was first listed: sandbridge servers diff'
  if (rule === undefined) return 'Asked because the tool is not marked read-only (MCP_BRIDGE_PERMISSIONS=careful).'
  const reason = ruleReason(rule)
  return visibleInline(`Asked because of the rule ${ruleName(rule)}.${reason === undefined ? '' : ` ${reason}`}`)
}
