// Finds rules that match no tool: a typo would silently allow what the rule was meant to deny. Pure.
import { type KnownServer, type Rule, ruleName, type UnmatchedRule } from '@sandbridge/core/config/rules'
import { didYouMeanText } from '@sandbridge/core/util/text'

/** Methods of every server beside its tools; see docs/permissions.md. */
const METHODS = ['resources', 'read_resource', 'prompts', 'get_prompt', 'list_tools']

export function unmatchedRules(rules: readonly Rule[], servers: readonly KnownServer[]): UnmatchedRule[] {
  const known = servers.map(({ name, otherNames = [], tools }) => ({ name, names: [name, ...otherNames], tools }))
  const names = known.flatMap(({ name, tools = [] }) => [
    name,
    ...[...tools, ...METHODS].map((tool) => `${name}__${tool}`),
  ])
  return rules.flatMap((rule): UnmatchedRule[] => {
    const { target, verdict } = rule
    const about = known.filter((server) =>
      server.names.some((name) => target.readings.some(({ tool }) => target.matches(name, tool))),
    )
    const isMatched = about.some(
      ({ names: all, tools }) =>
        tools === undefined || all.some((name) => [...tools, ...METHODS].some((tool) => target.matches(name, tool))),
    )
    if (isMatched) return []
    const [{ server, tool }] = target.readings as [(typeof target.readings)[number]]
    const hint = didYouMeanText(tool === '*' ? server : `${server}__${tool}`, names)
    const isWaiting = about.length === 0 && hint === ''
    const message = `No known tool matches the rule ${ruleName(rule)}. ${isWaiting ? WAITS : hint}`.trim()
    return [{ verdict, message, about: about.map(({ name }) => name), isWaiting }]
  })
}

const WAITS = 'It counts once there is such a server.'
