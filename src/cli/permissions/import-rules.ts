// Converts users' decisions about tools in other clients to rules. A decision without an exact equivalent becomes a
// stricter rule or is reported as left out, never a laxer rule. Pure.
import { type RuleEntry, ruleFor, type Verdict } from '../../config/rules/rule.ts'
import { fitsGlob } from '../../util/text/glob.ts'
import { fieldsOf, itemsOf } from '../../util/json/json.ts'
import { type ConfigObject, valueAt } from '../../config/formats/config-document.ts'

interface ImportedRule {
  verdict: Verdict
  rule: string | RuleEntry
}

export interface ImportedRules {
  rules: ImportedRule[]
  /** What was left out, and why. */
  leftOut: string[]
}

export type Importer = (document: ConfigObject, servers: readonly string[]) => ImportedRules

const VERDICT_LISTS = ['deny', 'ask', 'allow'] as const

/** `permissions` of settings.json: `mcp__server`, `mcp__server__tool`. */
export const claudeCodeRules: Importer = (document, servers) => {
  const into = new Collected()
  for (const verdict of VERDICT_LISTS) {
    const list = valueAt(document, 'permissions', verdict)
    for (const rule of itemsOf(list)) {
      if (typeof rule !== 'string' || !rule.startsWith('mcp__')) continue
      const [, server = '', ...tool] = rule.split('__')
      const known = servers.find((name) => name.replace(/[^\w-]/g, '_') === server)
      if (rule.includes('(')) into.leaveOut(rule, 'its form has no effect in that client either')
      else if (known === undefined && !(server.includes('*') && verdict !== 'allow'))
        into.leaveOut(rule, 'no server here has this name')
      else into.add(verdict, known ?? server, tool.join('__') || '*')
    }
  }
  return into
}

/** `default_tools_approval_mode` of a server and `approval_mode` of a tool. */
export const codexRules: Importer = (document, servers) => {
  const into = new Collected()
  const table = valueAt(document, 'mcp_servers')
  for (const [server, entry] of Object.entries(fieldsOf(table))) {
    if (!servers.includes(server)) continue
    const whole = valueAt(entry, 'default_tools_approval_mode')
    if (whole === 'prompt') into.add('ask', server, '*')
    if (whole === 'approve') into.add('allow', server, '*')
    if (whole === 'writes') into.rules.push(writesOf(server))
    const tools = valueAt(entry, 'tools')
    for (const [tool, settings] of Object.entries(fieldsOf(tools))) {
      const mode = valueAt(settings, 'approval_mode')
      if (mode === 'prompt') into.add('ask', server, tool)
      // In Codex, a tool's setting takes precedence over its server's.
      if (mode === 'approve')
        into.rules.push({ verdict: 'allow', rule: { ...ruleFor(server, tool), insteadOfAsking: true } })
    }
  }
  return into
}

function writesOf(server: string): ImportedRule {
  return { verdict: 'ask', rule: { server, annotations: { readOnlyHint: false } } }
}

/** `permission`: patterns over `server_tool`; the last match wins. */
export const opencodeRules: Importer = (document, servers) => {
  const into = new Collected()
  const table = valueAt(document, 'permission')
  const entries = Object.entries(fieldsOf(table))
  for (const [at, [pattern, decision]] of entries.entries()) {
    if (decision !== 'allow' && decision !== 'ask' && decision !== 'deny') continue
    const server = servers.find((name) => pattern.startsWith(`${name}_`) || pattern === name)
    if (server === undefined) {
      if (pattern === '*' && decision !== 'allow') into.leaveOut(pattern, 'set MCP_BRIDGE_PERMISSIONS=careful instead')
      continue
    }
    const tool = pattern.slice(server.length + 1) || '*'
    const isUndone = entries.slice(at + 1).some(([later, other]) => other !== decision && fitsGlob(later, pattern))
    if (isUndone) continue
    const stricterBefore = entries
      .slice(0, at)
      .some(([earlier, other]) => other === 'deny' && fitsGlob(earlier, pattern))
    if (decision !== 'deny' && stricterBefore)
      into.leaveOut(pattern, 'an earlier pattern denies it, and deny wins here')
    else if (decision === 'allow') into.allowInsteadOfAsking(server, tool)
    else into.add(decision, server, tool)
  }
  return into
}

/** `trust` of a server in settings.json, and `[[rule]]` of a policy file. */
export const geminiCliRules: Importer = (document, servers) => {
  const into = new Collected()
  const table = valueAt(document, 'mcpServers')
  for (const [server, entry] of Object.entries(fieldsOf(table)))
    if (servers.includes(server) && valueAt(entry, 'trust') === true) into.add('allow', server, '*')
  const rules = valueAt(document, 'rule')
  for (const rule of itemsOf(rules)) {
    const [server, tool, decision] = ['mcpName', 'toolName', 'decision'].map((key) => valueAt(rule, key))
    if (typeof server !== 'string' || !servers.includes(server)) continue
    const name = `${server}__${typeof tool === 'string' ? tool : '*'}`
    if (valueAt(rule, 'argsPattern') !== undefined && decision === 'allow')
      into.leaveOut(name, 'its argsPattern cannot be translated')
    else if (decision === 'allow') into.add('allow', server, typeof tool === 'string' ? tool : '*')
    else if (decision === 'deny' || decision === 'ask_user')
      into.add(decision === 'deny' ? 'deny' : 'ask', server, typeof tool === 'string' ? tool : '*')
  }
  return into
}

/**
 * `chat.tools.eligibleForAutoApproval` of settings.json: tools that always ask. What was allowed in VS Code is not
 * stored in a file.
 */
export const vscodeRules: Importer = (document, servers) => {
  const into = new Collected()
  const table = valueAt(document, 'chat.tools.eligibleForAutoApproval')
  for (const [name, isEligible] of Object.entries(fieldsOf(table))) {
    const server = servers.find((one) => name.startsWith(`${one}/`))
    if (isEligible === false && server !== undefined) into.add('ask', server, name.slice(server.length + 1))
  }
  return into
}

class Collected implements ImportedRules {
  readonly rules: ImportedRule[] = []
  readonly leftOut: string[] = []

  add(verdict: Verdict, server: string, tool: string): void {
    const isPlain = !server.includes('__') && !server.startsWith('mcp')
    this.rules.push({ verdict, rule: isPlain ? (tool === '*' ? server : `${server}__${tool}`) : { server, tool } })
  }

  allowInsteadOfAsking(server: string, tool: string): void {
    this.rules.push({ verdict: 'allow', rule: { server, tool, insteadOfAsking: true } })
  }

  leaveOut(rule: string, why: string): void {
    this.leftOut.push(`${rule.slice(0, 200)}: ${why}`)
  }
}
