// The rules in force for the cells of a server set: those of the files, plus those of a user's own folder.
import type { PermissionFiles, UserRules } from '../../config/permission-files.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { definitionKey } from '../catalog/model/identity.ts'
import { CatalogOffering } from '../catalog/model/catalog-offering.ts'
import type { CatalogTool } from '../catalog/model/catalog-tool.ts'
import type { FoundServer, ServerDefinition } from '../../config/entries/server-definition.ts'
import type { Settings } from '../../config/settings/settings.ts'
import type { FlowReason } from '../../config/rules/flow.ts'
import type { TrustedText } from '../../config/rules/permissions-schema.ts'
import type { Policy, ToolAccess, Subject, UnmatchedRule } from '../../config/rules/policy.ts'
import type { Rule } from '../../config/rules/rule.ts'
import { RULES, rules as part } from '../../config/rules/rules-part.ts'
import type { Document } from '../../util/stores/store.ts'
import type { Upstreams } from '../../upstream/upstream-set.ts'
import { didYouMeanText } from '../../util/text/did-you-mean.ts'
import type { AnswerPage } from './answer-page.ts'

interface PermissionsOptions {
  settings: Pick<Settings, 'stateDir' | 'askTimeoutMs' | 'permissions' | 'flow'>
  files: Pick<PermissionFiles, 'hasChanged' | 'read' | 'trust'>
  catalog: Pick<Catalog, 'servers' | 'of' | 'compared' | 'accept'>
  upstreams: Pick<Upstreams, 'definitions'>
  /** Where the calls of the last hour are kept, which all bridges and commands of a person count. */
  hours: Document
  /** The page where the user can answer questions, served from the first one on; undefined when no page is served. */
  page: () => Promise<AnswerPage | undefined>
}

/** A user's own rules combined with the shared policy they were made from. */
interface Stricter {
  rules: readonly Rule[]
  shared: Policy | undefined
  policy: Policy
}

export class Permissions {
  readonly options: PermissionsOptions
  /** Closes what the gate of its cells has open. */
  onClose: (() => Promise<void>) | undefined
  /** Rules for all users; missing when every call is allowed. */
  shared: Policy | undefined
  readonly #stricter = new WeakMap<UserRules, Stricter>()
  /** Answers that the files have, too, once they are read again. */
  #newTrust: TrustedText[] = []
  #byName: { of: readonly ServerDefinition[]; names: Map<string, ServerDefinition> } | undefined

  constructor(options: PermissionsOptions, policy: Policy | undefined) {
    this.options = options
    this.shared = policy
  }

  /** The shared rules plus those that the user's own folder had when they were last read. */
  policyOf(user: UserRules | undefined): Policy | undefined {
    return (user && this.#stricter.get(user)?.policy) ?? this.shared
  }

  /**
   * Reads the rules of the user's own folder, if they have changed.
   * @returns the shared rules plus those @throws BridgeError CONFIG_INVALID while the latter are invalid
   */
  async readPolicyOf(user: UserRules | undefined): Promise<Policy | undefined> {
    const rules = await user?.read()
    const shared = this.shared
    if (user === undefined || rules === undefined || rules.length === 0) {
      if (user) this.#stricter.delete(user)
      return shared
    }
    const known = this.#stricter.get(user)
    if (known?.rules === rules && known.shared === shared) return known.policy
    const { permissions: preset, flow } = this.options.settings
    const policy = (await part.for(RULES)).policyOf([...(shared?.rules ?? []), ...rules], preset, flow)
    this.#stricter.set(user, { rules, shared, policy })
    return policy
  }

  /** Whether the files may have changed since they were read. */
  hasChanged(): boolean {
    return this.options.files.hasChanged()
  }

  /** Reads the files again. @throws BridgeError CONFIG_INVALID while they are invalid: the old rules stay in force */
  async refresh(found: readonly FoundServer[]): Promise<void> {
    this.shared = await this.options.files.read(found)
    this.#newTrust = []
  }

  /** The rules, and the names in servers' entries, that match no known tool. */
  unmatched(policy = this.shared): UnmatchedRule[] {
    const { catalog } = this.options
    const servers = catalog.servers().map(({ name }) => ({ name, record: catalog.of(name) }))
    const known = servers.map(({ name, record }) => ({
      name,
      otherNames: this.#definition(name)?.otherNames,
      tools: record.tools?.map((tool) => tool.name),
    }))
    // Rules about flows can name it; see `refuseApp`.
    const all = [...known, { name: 'sandbridge', tools: ['show_app'] }]
    const names = servers.flatMap(({ name, record }) =>
      record.unmatchedNames.map((one) => ({ server: name, name: one, tools: record.tools?.map((tool) => tool.name) })),
    )
    return [...(policy?.unmatched(all) ?? []), ...names.map(unmatchedName)]
  }

  async close(): Promise<void> {
    await this.onClose?.()
  }

  subject(tool: CatalogTool): Subject {
    const { catalog } = this.options
    const definition = this.#definition(tool.server)
    const key = this.#definitionKey(tool.server)
    return {
      server: tool.server,
      otherNames: definition?.otherNames,
      tool: ruledName(tool),
      // Resources, prompts and lists are only read.
      annotations: tool.method || tool instanceof CatalogOffering ? READS : tool.definition.annotations,
      definition: key,
      isProjects: !definition || definition.isProjects === true,
      isChanged: definition !== undefined && tool.method === undefined && catalog.of(tool.server).isChanged(tool.name),
    }
  }

  /** What is certain about the tool without its arguments. */
  accessOf(tool: CatalogTool, policy = this.shared): ToolAccess {
    return policy?.accessOf(this.subject(tool)) ?? 'allowed'
  }

  /**
   * Allows a tool in its current form permanently. The rule takes precedence over rules that ask.
   * @param flow allow only calls with no other flow than this one
   */
  async allowAlways(tool: CatalogTool, flow?: FlowReason): Promise<void> {
    const { catalog, settings } = this.options
    const subject = this.subject(tool)
    if (subject.isChanged === true) await catalog.accept(subject.server, [tool.definition])
    await (await part.for(RULES)).allowAlways(settings.stateDir, subject, flow)
  }

  /** Tells a server from another one that had its name; undefined for an unknown one. */
  identityOf(server: string): string | undefined {
    const definition = this.#definition(server)
    return definition && `${definition.isProjects ? 'project ' : ''}${definitionKey(definition)}`
  }

  /** Whether the user has answered that they trust the text of this server. */
  trustsText(server: string): boolean {
    return this.#isTrusted(this.#ownServer(server))
  }

  /**
   * The answer that trusts the text of a server. There is none for a project's server, nor for what is no server, nor
   * for one that says itself that it returns text of others.
   */
  trustOf(server: string): TrustedText | undefined {
    const own = this.#ownServer(server)
    if (own === undefined) return undefined
    const { tools = [] } = this.options.catalog.of(server)
    return tools.some(({ definition }) => definition.annotations?.openWorldHint === true) ? undefined : own
  }

  /** Trusts the text of a server permanently. @throws BridgeError CONFIG_INVALID when it cannot be written */
  async trustAlways(text: TrustedText): Promise<void> {
    await (await part.for(RULES)).rememberTrust(this.options.settings.stateDir, text)
    this.#newTrust.push(text)
  }

  #isTrusted(text: TrustedText | undefined): boolean {
    return [...this.options.files.trust, ...this.#newTrust].some((one) => one.definition === text?.definition)
  }

  /** Undefined for a server that the user has not configured. */
  #ownServer(server: string): TrustedText | undefined {
    const definition = this.#definition(server)
    return definition && !definition.isProjects ? { server, definition: definitionKey(definition) } : undefined
  }

  #definitionKey(server: string): string {
    const definition = this.#definition(server)
    return definition ? definitionKey(definition) : ''
  }

  #definition(server: string): ServerDefinition | undefined {
    const all = this.options.upstreams.definitions
    if (this.#byName?.of !== all) this.#byName = { of: all, names: new Map(all.map((one) => [one.name, one])) }
    return this.#byName.names.get(server)
  }
}

/** For a name that a server's entry includes or excludes. */
function unmatchedName(entry: { server: string; name: string; tools: readonly string[] | undefined }): UnmatchedRule {
  const { server, name, tools = [] } = entry
  const what = `No tool of ${server} has the name ${JSON.stringify(name)}, which its entry in the config file lists.`
  const message = `${what} ${didYouMeanText(name, tools)}`.trim()
  return { verdict: 'deny', message, about: [server], isWaiting: false }
}

const READS = { readOnlyHint: true }

/** Rules name resources and prompts by a method of their server. */
function ruledName(tool: CatalogTool): string {
  if (tool instanceof CatalogOffering) return tool.kind === 'prompt' ? 'get_prompt' : 'read_resource'
  return tool.method ?? tool.name
}
