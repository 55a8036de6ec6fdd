// Finds rules that match no tool. A typo in a rule would otherwise silently allow what the rule was meant to deny.
// Pure.
import { didYouMeanText } from '../../util/text/did-you-mean.ts'
import { type Rule, ruleName } from './rule.ts'

/** A server and its known tools. */
export interface KnownServer {
  name: string
  /** Undefined when the tools were never listed. */
  tools: readonly string[] | undefined
}

/** Methods of every server beside its tools; see docs/permissions.md. */
const METHODS = ['resources', 'read_resource', 'prompts', 'get_prompt', 'list_tools']

/** A rule that matches nothing, and the sentence that says so, with suggestions. */
export interface UnmatchedRule {
  verdict: Rule['verdict']
  message: string
}

/**
 * The rules that match nothing. A rule for a server whose tools are unknown
 * is not reported.
 */
export function unmatchedRules(rules: readonly Rule[], servers: readonly KnownServer[]): UnmatchedRule[] {
  const names = servers.flatMap(({ name, tools = [] }) => [
    name,
    ...[...tools, ...METHODS].map((tool) => `${name}__${tool}`),
  ])
  return rules.flatMap((rule) => {
    const isMatched = servers.some(({ name, tools }) =>
      tools === undefined
        ? rule.target.readings.some((reading) => rule.target.matches(name, reading.tool))
        : [...tools, ...METHODS].some((tool) => rule.target.matches(name, tool)),
    )
    if (isMatched) return []
    const [{ server, tool }] = rule.target.readings as [(typeof rule.target.readings)[number]]
    const hint = didYouMeanText(tool === '*' ? server : `${server}__${tool}`, names)
    return [{ verdict: rule.verdict, message: `No known tool matches the rule ${ruleName(rule)}. ${hint}`.trim() }]
  })
}
