// Reading rules, and the former names of servers in them, as far as the core knows it.
import { Part } from '../../util/part.ts'
import type { DiscoveredServers } from '../entries/server-definition.ts'
import type { FlowPreset, FlowReason } from './flow.ts'
import type { ReadRules, RuleLists, RulesOfFile, TrustedText } from './permissions-schema.ts'
import type { Policy, Subject, Preset } from './policy.ts'
import type { Origin, Rule } from './rule.ts'

/** Without it, no code runs where there are rules. */
export const rules = new Part<RulesPart>('judging calls by rules')

/** What needs it. */
export const RULES = 'A rule about calls, MCP_BRIDGE_PERMISSIONS or MCP_BRIDGE_FLOW'

interface RulesPart {
  /** Reads the rules of a file, its patterns for masking, and the servers whose text its user trusts. */
  readRules: (text: string, origin: Origin) => Promise<RulesOfFile | Extract<ReadRules, { problems: unknown }>>
  /** Reads rules from lists that passed the schema. */
  rulesOf: (lists: RuleLists, origin: Origin) => Promise<ReadRules>
  policyOf: (rules: readonly Rule[], preset: Preset, flow: FlowPreset) => Policy
  /** Adds the answer "always" for a tool in its current form. @param flow only with no other flow than this one */
  allowAlways: (stateDir: string, tool: Subject, flow?: FlowReason) => Promise<void>
  /** Adds a server whose text the user trusts. @throws BridgeError CONFIG_INVALID when it cannot be written */
  rememberTrust: (stateDir: string, text: TrustedText) => Promise<void>
}

/** Without it, a renamed entry is another server for rules, which need another package anyway. */
export const formerNames = new Part<FormerNamesPart>('former names of servers')

interface FormerNamesPart {
  FormerNames: new (stateDir: string) => FormerNames
}

export interface FormerNames {
  /** The servers with the names that their entries had before. Never rejects. */
  added(discovered: DiscoveredServers): Promise<DiscoveredServers>
}
