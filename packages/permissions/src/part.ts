// What the core uses of permissions.
import type { gates } from '@sandbridge/core/parts'
import type { FlowFacts, Policy } from '@sandbridge/core/config/rules'
import { CellPermissions } from './cell-gate.ts'
import { deniedByAnswer, deniedByRule, flowRuleHint } from './denied.ts'
import { RulePolicy, validate } from './rules/policy.ts'

type GatesPart = Awaited<ReturnType<typeof gates.for>>

export const gateOf: GatesPart['gateOf'] = (permissions, cell, policy) => new CellPermissions(permissions, cell, policy)

export const refuseDenied: GatesPart['refuseDenied'] = (policy, call) => {
  const decision = validate(policy, call)
  if (decision.verdict === 'deny') throw deniedByRule(call, decision, [])
}

// Flow rules for apps. An app cannot be kept from telling something to whoever wrote it: browsers look up the host of
// an address that it navigates to, and connect, before they refuse the navigation. So showing one counts as a call that
// sends the app out, and where it sends it is in the app.

/** How rules name it. */
const APP = { server: 'sandbridge', tool: 'show_app', annotations: {}, definition: '', isProjects: false }

/**
 * Only rules about flows count. Presets are about what changes something, which an app does not.
 * @param shown the page, with all that it shows
 * @param author the server whose page it is; missing for a page of a cell
 * @throws BridgeError PERMISSION_DENIED where they deny such a call, or ask about it: no client is asked here
 */
export function refuseApp({ rules, flow: preset }: Policy, shown: string, flow: FlowFacts, author?: string): void {
  const aboutFlows = rules.filter(({ condition }) => condition?.usesFlow === true)
  // The name counts as a destination.
  const decision = validate(new RulePolicy(aboutFlows, 'open', preset), {
    ...APP,
    args: { file: shown },
    flow: author === undefined ? flow : writtenBy(author, flow),
  })
  if (decision.verdict === 'deny') throw deniedByRule(APP, decision, [])
  if (decision.verdict !== 'ask') return
  const hint = decision.flow && flowRuleHint(APP, decision.flow)
  throw deniedByAnswer(
    { call: APP, decision },
    'no question can be asked about it',
    hint ?? 'Ask the user to change the rule.',
  )
}

/** No cell got the page of a server, so its text is in no index: what is unknown is the author's. */
function writtenBy(author: string, flow: FlowFacts): FlowFacts {
  return {
    seen: flow.seen,
    isKnownWord: (word) => flow.isKnownWord(word),
    isTrusted: (server) => flow.isTrusted(server),
    originOf(value, isExact) {
      const { guessed, ...found } = flow.originOf(value, isExact)
      const isOthers = (name: string): boolean => name !== author && !guessed.includes(name)
      const [servers, names] = [found.servers, found.names].map((all) => [...all.filter(isOthers), author])
      return { ...found, guessed: [], servers: servers!, names: names! }
    },
  }
}
