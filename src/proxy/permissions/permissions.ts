// The rules in force for all cells of a bridge, and what is kept between cells: how often calls were made, and what the user has allowed a session.
import { performance } from 'node:perf_hooks'
import { definitionKey, toolFingerprint } from '../../catalog/disk-cache.ts'
import { CatalogOffering } from '../../catalog/model/catalog-offering.ts'
import type { CatalogTool } from '../../catalog/model/catalog-tool.ts'
import type { ServerDefinition } from '../../config/server-definition.ts'
import type { KeptQuestions } from '../../state/kept-questions.ts'
import type { CallLimits, Counts, LimitReached } from '../../policy/limits.ts'
import type { Policy, Standing, Subject } from '../../policy/policy.ts'
import type { Rule, RuleEntry } from '../../policy/rule.ts'
import { type AnswerPage, Browser } from './answer-page.ts'

export interface PermissionsOptions {
  policy: Policy
  definitions: () => readonly ServerDefinition[]
  /** The tools of a server, as far as they are known. */
  tools: (server: string) => readonly CatalogTool[]
  /** Whether a tool is not what it was when its server was first listed. */
  isChanged: (tool: CatalogTool) => boolean
  /** Sees that what is known of a server's tools is what the server says now. */
  refresh: (server: string, signal: AbortSignal) => Promise<unknown>
  /** The user has allowed a tool as it is now. */
  accept: (tool: CatalogTool) => Promise<void>
  /** Writes a rule down for good. */
  remember: (rule: RuleEntry) => Promise<void>
  askTimeoutMs: number
  /** Where questions wait whose client cannot ask. */
  questions: KeptQuestions
  /** How often calls were made in the last hour, by all users. */
  limits: CallLimits
  /** Where they can be answered beside a terminal, served from the first such question on; undefined where no page is served. */
  page: () => Promise<AnswerPage | undefined>
  /** Whether the user's browser is opened for them. */
  opensBrowser: boolean
}

/** What is kept of one session. */
export interface SessionPermissions {
  counts: Counts
  /** Tools that the user has allowed for all of it. */
  tools: Set<string>
}

const MAX_NAMED = 5
/** Questions that are open at once, over all sessions. */
const MAX_QUESTIONS = 50

export class Permissions {
  readonly options: PermissionsOptions
  policy: Policy
  openQuestions = 0
  readonly browser = new Browser()
  readonly #sessions = new WeakMap<object, SessionPermissions>()
  #byName: { of: readonly ServerDefinition[]; names: Map<string, ServerDefinition> } | undefined

  constructor(options: PermissionsOptions) {
    this.options = options
    this.policy = options.policy
  }

  get hasRoom(): boolean {
    return this.openQuestions < MAX_QUESTIONS
  }

  /** A tool as rules see it. */
  subject(tool: CatalogTool): Subject {
    const definition = this.#definition(tool.server)
    return {
      server: tool.server,
      tool: ruledName(tool),
      // What every server can be asked only reads.
      annotations: tool.method || tool instanceof CatalogOffering ? READS : tool.definition.annotations,
      definition: definition ? definitionKey(definition) : '',
      isProjects: !definition || definition.isProjects === true,
      ...(this.options.isChanged(tool) && { isChanged: true }),
    }
  }

  /** Can the tool be called, as far as that is certain without its arguments? */
  standing(tool: CatalogTool): Standing {
    return this.policy.standing(this.subject(tool))
  }

  /** What grants know a tool by: its server's definition and its own, beside their names. */
  toolKey(tool: CatalogTool, { server, definition, tool: name }: Subject): string {
    return [definition, server, name, toolFingerprint(tool.definition)].join('\n')
  }

  /** Some of a server's tools that may be called. */
  allowedOf(server: string): string[] {
    const tools = this.options.tools(server).filter((tool) => this.standing(tool) === 'allowed')
    return tools.slice(0, MAX_NAMED).map(({ alias }) => alias)
  }

  of(session: object): SessionPermissions {
    const known = this.#sessions.get(session) ?? { counts: new Map(), tools: new Set() }
    this.#sessions.set(session, known)
    return known
  }

  /** A tool as it is now, for good: its rule comes before rules that ask. */
  async allowAlways(tool: CatalogTool): Promise<void> {
    const { server, tool: name, definition, isChanged } = this.subject(tool)
    if (isChanged === true) await this.options.accept(tool)
    await this.options.remember({ server, tool: name, definition, insteadOfAsking: true })
  }

  /** Counts a call that is about to be made, unless it is one too many. */
  count(rules: readonly Rule[], cell: Counts, session: object): LimitReached | undefined {
    if (rules.length === 0) return undefined
    return this.options.limits.take(rules, cell, this.of(session).counts, performance.now())
  }

  #definition(server: string): ServerDefinition | undefined {
    const all = this.options.definitions()
    if (this.#byName?.of !== all) this.#byName = { of: all, names: new Map(all.map((one) => [one.name, one])) }
    return this.#byName.names.get(server)
  }
}

const READS = { readOnlyHint: true }

/** Resources and prompts are reached through a method of their server. */
function ruledName(tool: CatalogTool): string {
  if (tool instanceof CatalogOffering) return tool.kind === 'prompt' ? 'get_prompt' : 'read_resource'
  return tool.method ?? tool.name
}
