// Parses rules, or reports every problem with its position. A file with a problem has no rules.
import {
  exactTarget,
  nameProblem,
  type Origin,
  parseOwnTarget,
  parseTarget,
  patternProblem,
  type ReadRules,
  type Rule,
  type RuleEntry,
  type RuleLists,
  type RuleProblem,
  type RulesOfFile,
  type Target,
  targetOf,
  VERDICTS,
  type Verdict,
} from '@sandbridge/core/config/rules'
import type { JsonTree } from '@sandbridge/core/config/formats/json-tree.ts'
import { pauses } from '@sandbridge/core/util/async'
import { compileCondition } from './condition.ts'
import { parseFile } from './file-schema.ts'

const MAX_TOLD = 20
/** Each is judged at every call, and anybody may have written a project. */
const MAX_PROJECT_CONDITIONS = 200

export async function readRules(text: string, origin: Origin): Promise<RulesOfFile | { problems: RuleProblem[] }> {
  if (text.trim() === '')
    return { problems: [{ reason: 'is empty: write {"permissions": {}} or delete it', place: { line: 1, column: 1 } }] }
  const { readJsonTree } = await import('@sandbridge/core/config/formats/json-tree.ts')
  const tree = readJsonTree(text.replace(/^\uFEFF/, ''))
  if ('reason' in tree) return { problems: [tree] }
  const content = parseFile(tree.value)
  if (Array.isArray(content))
    return { problems: content.slice(0, MAX_TOLD).map(({ path, reason }) => ({ reason, place: tree.at(path) })) }
  const { lists, mask, trust } = content
  const foreign =
    origin.scope === 'project' ? (['mask', 'trust'] as const).find((key) => content[key].length > 0) : undefined
  if (foreign !== undefined)
    return { problems: [{ reason: `${foreign} is for your own permissions.json`, place: tree.at([foreign]) }] }
  const read = await rulesOf(lists, origin, tree)
  return 'rules' in read ? { ...read, mask, trust } : read
}

/** Reads rules from lists that passed the schema. Lists in a server's definition have no positions. */
export async function rulesOf(lists: RuleLists, origin: Origin, tree?: JsonTree): Promise<ReadRules> {
  const rules: Rule[] = []
  const problems: RuleProblem[] = []
  const pause = pauses()
  let conditions = 0
  for (const verdict of VERDICTS) {
    for (const [index, entry] of (lists[verdict] ?? []).entries()) {
      await pause()
      const path = ['permissions', verdict, index]
      const made = await ruleOf(entry, verdict, origin)
      if (!('verdict' in made)) {
        const { reason, key, offset } = made
        const whole = key === undefined ? path : [...path, key]
        problems.push({
          reason,
          ...(tree && { place: offset === undefined ? tree.at(whole) : tree.within(whole, offset) }),
        })
        if (problems.length >= MAX_TOLD) return { problems }
      } else rules.push(tree ? { ...made, line: tree.at(path).line } : made)
      if ('condition' in made && (conditions += 1) > MAX_PROJECT_CONDITIONS && origin.scope === 'project')
        return { problems: [{ reason: `has more than ${MAX_PROJECT_CONDITIONS} conditions` }] }
    }
  }
  return problems.length > 0 ? { problems } : { rules }
}

interface EntryProblem {
  reason: string
  key?: string
  offset?: number
}

async function ruleOf(entry: string | RuleEntry, verdict: Verdict, origin: Origin): Promise<Rule | EntryProblem> {
  const fields: RuleEntry = typeof entry === 'string' ? { tool: entry } : entry
  const target = targetIn(fields, verdict !== 'allow', origin)
  if ('reason' in target) return typeof entry === 'string' ? { reason: target.reason } : target
  const { perCell, perSession, perHour } = fields
  const limits = { ...(perCell && { perCell }), ...(perSession && { perSession }), ...(perHour && { perHour }) }
  const [limit] = Object.keys(limits)
  if (limit !== undefined && verdict === 'deny')
    return { reason: `${limit} has no meaning in deny: write it in allow or ask`, key: limit }
  if (fields.insteadOfAsking && verdict !== 'allow')
    return { reason: 'insteadOfAsking only has a meaning in allow', key: 'insteadOfAsking' }
  const condition = fields.when === undefined ? undefined : await compileCondition(fields.when)
  if (condition && 'reason' in condition)
    return { reason: `"when" ${condition.reason}`, key: 'when', offset: condition.offset }
  return {
    verdict,
    text: JSON.stringify(entry),
    origin,
    target,
    annotations: withoutUndefinedHints(fields),
    ...(condition && { condition }),
    ...(limit !== undefined && { limits, limited: targetIn(fields, true, origin) as Target }),
    ...(fields.reason !== undefined && { reason: fields.reason }),
    ...(fields.definition !== undefined && { definition: fields.definition }),
    insteadOfAsking: fields.insteadOfAsking === true,
  }
}

function targetIn({ server, tool, exact }: RuleEntry, isStrict: boolean, origin: Origin): Target | EntryProblem {
  if (origin.server !== undefined && server !== undefined)
    return { reason: "names a server: the rules in a server's definition are for its own tools", key: 'server' }
  if (exact === true) return exactTargetIn({ server: server ?? origin.server, tool }, isStrict)
  const wrongServer = server === undefined ? undefined : patternProblem(server, false)
  if (wrongServer !== undefined) return { reason: `"server" ${wrongServer}`, key: 'server' }
  const isWhole = server === undefined && origin.server === undefined
  const wrongTool = tool === undefined ? undefined : patternProblem(tool, isWhole)
  if (wrongTool !== undefined)
    return { reason: `the rule ${JSON.stringify(tool).slice(0, 100)} ${wrongTool}`, key: 'tool' }
  if (origin.server !== undefined) return parseOwnTarget(tool ?? '*', origin.server, isStrict)
  if (server !== undefined) return targetOf({ server, ...(tool !== undefined && { tool }) }, isStrict)
  return parseTarget(tool ?? '*', isStrict)
}

function exactTargetIn({ server, tool }: Pick<RuleEntry, 'server' | 'tool'>, isStrict: boolean): Target | EntryProblem {
  if (server === undefined || tool === undefined)
    return { reason: 'exact needs both a server and a tool', key: 'exact' }
  for (const [key, name] of [
    ['server', server],
    ['tool', tool],
  ] as const) {
    const wrong = nameProblem(name)
    if (wrong !== undefined) return { reason: `"${key}" ${wrong}`, key }
  }
  return exactTarget({ server, tool }, isStrict)
}

function withoutUndefinedHints({ annotations = {} }: RuleEntry): Rule['annotations'] {
  return Object.fromEntries(Object.entries(annotations).filter(([, value]) => value !== undefined))
}
