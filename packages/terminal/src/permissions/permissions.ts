// `sandbridge permissions`: the rules of each tool and their origin; explains a call; allows tools.
import type { OpenTenant } from '@sandbridge/core/bridge'
import { loadSettings } from '@sandbridge/core/config/settings'
import type { CatalogTool } from '@sandbridge/core/calls/catalog'
import { type Decision, ruleName, type ToolAccess } from '@sandbridge/core/config/rules'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { isRecord, parseJson } from '@sandbridge/core/util/json/json.ts'
import { count } from '@sandbridge/core/util/text'
import {
  print,
  printEmpty,
  printJson,
  printSummary,
  printTable,
  visibleInline,
} from '@sandbridge/core/serve/cli/terminal'
import { withBridge } from '@sandbridge/shared/open-bridge.ts'
import { validate } from '@sandbridge/permissions/rules/policy.ts'
import { forgetTrust } from '@sandbridge/permissions/rules/remember-rule.ts'
import type { Cell } from '@sandbridge/core/serve/cli/terminal'

const STYLES = { allowed: 'green', asks: 'yellow', depends: 'yellow', denied: 'red' } as const
const ALL_ALLOWED = 'Every call is allowed: there are no rules, and MCP_BRIDGE_PERMISSIONS is open.'

interface ToolPermission {
  server: string
  tool: string
  standing: ToolAccess
  /** The deciding rule; several when it depends on the arguments. */
  because: string[]
}

export async function permissions(
  tool: string | undefined,
  args: string | undefined,
  options: { json?: boolean; allow?: string[]; distrust?: string },
): Promise<void> {
  if (options.allow) await allowTools(options.allow, options)
  else if (options.distrust !== undefined) await distrust(options.distrust, options)
  else if (tool !== undefined) await checkPermission(tool, args, options)
  else await listPermissions(options)
}

async function listPermissions(options: { json?: boolean }): Promise<void> {
  await withBridge(async (bridge) => {
    const tools = toolPermissions(bridge)
    const unmatched = bridge.rules.unmatched().map(({ message }) => message)
    const trusted = trustedTexts(bridge)
    if (options.json) return printJson({ preset: bridge.settings.permissions, tools, unmatched, trusted })
    for (const { server, counts } of trusted)
      print(visibleInline(`${counts ? 'Trusted text' : 'Trusted text of an entry that has changed'}: ${server}`))
    if (trusted.length > 0) print('Stop trusting the text of one: sandbridge permissions --distrust SERVER\n')
    if (bridge.rules.shared === undefined) return printEmpty(ALL_ALLOWED)
    printTable(
      tools.map(({ server, tool, standing, because }): Cell[] => [
        `${server}__${tool}`,
        { text: standing, style: STYLES[standing] },
        because.join('; '),
      ]),
      { head: ['TOOL', 'CALLS', 'BECAUSE OF'] },
    )
    for (const warning of unmatched) print(warning)
    const unknown = bridge.catalog.servers().filter(({ toolCount }) => toolCount === undefined)
    if (unknown.length > 0)
      print(`Servers whose tools are not known yet: ${unknown.map(({ name }) => name).join(', ')}.`)
    printSummary(`${count(tools.length, 'tool')}. Explain a call: sandbridge permissions SERVER__TOOL '{"a": 1}'`)
  })
}

/** Servers whose text the user trusts by an answer. @property counts false for an answer about another definition */
function trustedTexts({ rules }: OpenTenant): { server: string; counts: boolean }[] {
  const servers = [...new Set(rules.options.files.trust.map(({ server }) => server))]
  return servers.map((server) => ({ server, counts: rules.trustsText(server) }))
}

/** Takes back the answer that trusts the text of a server. */
async function distrust(server: string, { json }: { json?: boolean }): Promise<void> {
  const had = await forgetTrust((await loadSettings()).stateDir, server)
  if (json) return printJson({ server, wasTrusted: had })
  print(visibleInline(had ? `The text of ${server} is no longer trusted.` : `No answer trusts the text of ${server}.`))
}

function toolPermissions({ catalog, rules: inForce, settings }: OpenTenant): ToolPermission[] {
  const policy = inForce.shared
  return catalog.servers().flatMap(({ name }) =>
    catalog.details(name).tools.map((tool) => {
      if (!policy) return { server: name, tool: tool.name, standing: 'allowed', because: [] }
      const subject = inForce.subject(tool)
      const access = policy.accessOf(subject)
      const { byVerdict, answered } = policy.rulesFor(subject)
      const rules = [...byVerdict.deny, ...byVerdict.ask, ...answered, ...byVerdict.allow]
      const decision = validate(policy, { ...subject, args: {} })
      const because = access === 'depends' ? rules.map(ruleName) : [reasonOf(decision, settings.permissions)]
      return { server: name, tool: tool.name, standing: access, because }
    }),
  )
}

function reasonOf(
  { rule, by }: Pick<Decision, 'by'> & { rule?: Decision['rule'] | undefined },
  preset: string,
): string {
  if (by === 'change') return 'it has changed since it was first listed'
  return rule === undefined ? `MCP_BRIDGE_PERMISSIONS=${preset}` : ruleName(rule)
}

/** @throws BridgeError for an unknown tool, or arguments that are not a JSON object */
async function checkPermission(name: string, json: string | undefined, options: { json?: boolean }): Promise<void> {
  const args = json === undefined ? {} : parseJson(json)
  if (!isRecord(args)) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'The arguments are not a JSON object', {
      hint: `For example: sandbridge permissions github__create_issue '{"owner": "acme"}'`,
    })
  }
  await withBridge(async (bridge) => {
    const tool = await namedTool(bridge, name)
    const policy = bridge.rules.shared
    const subject = bridge.rules.subject(tool)
    const decision = policy && validate(policy, { ...subject, args })
    const verdict = decision?.verdict ?? 'allow'
    const because = decision ? reasonOf(decision, bridge.settings.permissions) : ALL_ALLOWED
    const limits = (decision?.limits ?? []).map((rule) => ({ rule: ruleName(rule), ...rule.limits }))
    const hints = policy?.rulesFor(subject).hints
    if (options.json) return printJson({ server: tool.server, tool: tool.name, verdict, because, limits, hints })
    print(`${verdict}: ${because}`)
    if (decision?.rule?.condition) print(`  because this is true, or cannot be judged: ${decision.rule.condition.text}`)
    for (const limit of limits) print(`  at most ${JSON.stringify(limit)}`)
    if (hints) print(`  the tool counts as ${hints.readOnlyHint ? 'read-only' : 'one that may change something'}`)
  })
}

/** Like the answer "yes, this tool always", for tools that ask. @throws BridgeError for an unknown or denied tool */
async function allowTools(names: readonly string[], options: { json?: boolean }): Promise<void> {
  await withBridge(async (bridge) => {
    const { rules } = bridge
    const policy = rules.shared
    const tools = await Promise.all(names.map((name) => namedTool(bridge, name)))
    for (const tool of tools) {
      if (!policy || rules.accessOf(tool) !== 'denied') continue
      const { rule, by } = validate(policy, { ...rules.subject(tool), args: {} })
      throw new BridgeError('PERMISSION_DENIED', `${tool.server}__${tool.name} is denied, and deny beats allow`, {
        hint: `Change this first: ${reasonOf({ rule, by }, bridge.settings.permissions)}`,
      })
    }
    const asking = tools.filter((tool) => rules.accessOf(tool) !== 'allowed')
    for (const tool of asking) await rules.allowAlways(tool)
    const shown = asking.map((tool) => `${tool.server}__${tool.name}`)
    if (options.json) return printJson({ allowed: shown })
    print(shown.length === 0 ? 'Nothing to do: it is allowed already.' : `Allowed from now on: ${shown.join(', ')}`)
    for (const tool of tools)
      for (const rule of policy?.rulesFor(rules.subject(tool)).byVerdict.deny ?? [])
        print(`Calls of ${tool.server}__${tool.name} that this rule denies stay denied: ${ruleName(rule)}`)
  })
}

async function namedTool({ catalog }: OpenTenant, name: string): Promise<CatalogTool> {
  const inner = name.replace(/^mcp__/, '')
  for (let at = inner.indexOf('__', 1); at !== -1; at = inner.indexOf('__', at + 1)) {
    const server = catalog.resolveServer(inner.slice(0, at))
    if (server !== undefined) return catalog.findTool(server, inner.slice(at + 2))
  }
  throw new BridgeError('PROXY_TOOL_UNKNOWN', `There is no server for '${name.slice(0, 200)}'`, {
    hint: 'Write SERVER__TOOL, as in github__create_issue. The servers: `sandbridge servers`.',
  })
}
