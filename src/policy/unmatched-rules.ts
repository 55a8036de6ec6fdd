// Finds rules that match no tool. A typing error in a rule would otherwise allow, unnoticed, what the rule was meant to deny. Pure.
import { didYouMean } from '../text/did-you-mean.ts'
import { type Rule, ruleName } from './rule.ts'

/** A server and its tools, as far as they are known. */
export interface KnownServer {
  name: string
  /** Missing when the server was never asked. */
  tools?: readonly string[]
}

/** What every server can be asked besides its tools; see docs/permissions.md. */
const METHODS = ['resources', 'read_resource', 'prompts', 'get_prompt', 'list_tools']

/** A sentence for each rule that matches nothing, with what may be meant. Servers whose tools are not known may still have them. */
export function unmatchedRules(rules: readonly Rule[], servers: readonly KnownServer[]): string[] {
  const names = servers.flatMap(({ name, tools = [] }) => [
    name,
    ...[...tools, ...METHODS].map((tool) => `${name}__${tool}`),
  ])
  return rules.flatMap((rule) => {
    const isMatched = servers.some(({ name, tools }) =>
      tools === undefined
        ? rule.target.readings.some((reading) => rule.target.matches(name, reading.tool.replaceAll('*', 'x')))
        : [...tools, ...METHODS].some((tool) => rule.target.matches(name, tool)),
    )
    if (isMatched) return []
    const [{ server, tool }] = rule.target.readings as [(typeof rule.target.readings)[number]]
    const meant = didYouMean(tool === '*' ? server : `${server}__${tool}`, names)
    const hint = meant.length === 0 ? '' : ` Did you mean ${meant.join(' or ')}?`
    return [`No known tool matches the rule ${ruleName(rule)}.${hint}`]
  })
}
