// Makes the error for a refused call: which rule refused it, and what is allowed instead. Pure.
import { BridgeError } from '@sandbridge/core/errors.ts'
import { ruleName, ruleReason } from '@sandbridge/core/config/rules'
import type { Decision, FlowReason, Rule, Subject, WatchedFlows } from '@sandbridge/core/config/rules'
import { conditionFor, flowText } from './rules/flow.ts'
import type { LimitReached } from './limits.ts'
import { shortName, visibleInline } from '@sandbridge/core/util/text'

type Name = Pick<Subject, 'server' | 'tool'>

const MAX_FLOW_CHARS = 2_000

/**
 * @param allowed tools of the same server that may be called
 * @param workflow the workflow that made the call
 */
export function deniedByRule(
  call: Name,
  { rule, by, flow }: Decision,
  allowed: readonly string[],
  workflow?: Pick<WatchedFlows, 'title'>,
): BridgeError {
  if (by === 'workflow' && flow && workflow) {
    const text = `${nameOf(call)} was stopped, because the workflow ${workflow.title} does not declare its flow: ${shownFlow(flow)}`
    return denied(
      call,
      text,
      `Look at what is new. ${flowRuleHint(call, flow)}, or run it once in a terminal: sandbridge run-workflow ${workflow.title} --record`,
    )
  }
  if (by === 'flow' && flow) {
    const text = `${nameOf(call)} is denied by MCP_BRIDGE_FLOW=deny: ${shownFlow(flow)}`
    return denied(call, text, 'Tell the user what you wanted to do and why. A rule in permissions.json can allow it.')
  }
  if (rule === undefined || by !== 'rule') {
    const text = `${nameOf(call)} is denied: MCP_BRIDGE_PERMISSIONS=readonly allows only tools that are marked read-only`
    return denied(call, text, othersHint(allowed))
  }
  const text = `${nameOf(call)} is denied by the rule ${ruleName(rule)}${said(rule)}`
  const hint =
    rule.condition === undefined
      ? othersHint(allowed)
      : `A call is allowed if this is false, and all that it names is known: ${rule.condition.text}`
  return denied(call, text, hint, rule)
}

export function deniedByLimit(call: Name, { rule, limit, most, waitMs }: LimitReached): BridgeError {
  const [per, again] = {
    perCell: ['cell', 'in the next cell'],
    perSession: ['session', 'in another session'],
    perHour: ['hour', `in ${Math.ceil((waitMs ?? 0) / 60_000)} min`],
  }[limit]
  const text = `${nameOf(call)} is denied: the rule ${ruleName(rule)} allows ${most} per ${per}${said(rule)}`
  return denied(call, text, `Allowed again ${again}.`, rule)
}

/** For the user's no, and for a question without an answer. */
export function deniedByAnswer(
  { call, decision: { rule, flow } }: { call: Name; decision: Decision },
  why: string,
  hint: string,
): BridgeError {
  return denied(call, `${nameOf(call)} was not allowed: ${why}${flow ? `; ${shownFlow(flow)}` : ''}`, hint, rule)
}

/** A flow is only allowed by a rule that names it. */
export function flowRuleHint({ server, tool }: Name, flow: FlowReason): string {
  const rule = { tool: `${server}__${tool}`, when: conditionFor(flow) }
  return `Allow this flow in permissions.json: {"allow": [${JSON.stringify(rule)}]}`
}

const shownFlow = (flow: FlowReason): string => visibleInline(flowText(flow, false).slice(0, MAX_FLOW_CHARS))

function denied({ server, tool }: Name, message: string, hint: string, rule?: Rule): BridgeError {
  const data = { server, tool, ...(rule && { rule: ruleName(rule) }) }
  return new BridgeError('PERMISSION_DENIED', message, { hint, data })
}

function nameOf({ server, tool }: Name): string {
  return `${shortName(server)}.${shortName(tool)}`
}

function said(rule: Rule): string {
  const reason = ruleReason(rule)
  return reason === undefined ? '' : `: ${reason}`
}

function othersHint(allowed: readonly string[]): string {
  return allowed.length === 0
    ? 'None of its tools is allowed. Ask the user to change the rule, if the call is needed.'
    : `Allowed of this server: ${allowed.join(', ')}.`
}
