// The rules in force: those of the files, read again after a change, plus those of a user's own folder.
import type { Catalog } from '../catalog/catalog.ts'
import { definitionKey } from '../catalog/disk-cache.ts'
import type { FirstListings } from '../catalog/first-listings.ts'
import type { CatalogTool } from '../catalog/model/catalog-tool.ts'
import type { PermissionFiles } from '../../config/permission-files.ts'
import { rememberRules } from '../../config/remember-rule.ts'
import type { FoundServer, ServerDefinition } from '../../config/entries/server-definition.ts'
import type { Settings } from '../../config/settings/settings.ts'
import type { UserRules } from '../../config/user-rules.ts'
import { CallLimits } from '../../config/rules/limits.ts'
import type { Policy } from '../../config/rules/policy.ts'
import type { Rule } from '../../config/rules/rule.ts'
import { type KnownServer, unmatchedRules } from '../../config/rules/unmatched-rules.ts'
import { KeptQuestions } from './kept-questions.ts'
import type { Upstreams } from '../../upstream/upstream.ts'
import type { AnswerPage } from './answer-page.ts'
import { Permissions } from './permissions.ts'

interface RulesInForceOptions {
  settings: Pick<Settings, 'stateDir' | 'askTimeoutMs' | 'permissions' | 'flow' | 'open'>
  files: PermissionFiles
  catalog: Catalog
  upstreams: Upstreams
  firstListings: FirstListings
  /** The currently configured servers. */
  definitions: () => readonly ServerDefinition[]
  /** The page where the user can answer questions, served from the first one on; undefined when no page is served. */
  page: () => Promise<AnswerPage | undefined>
}

/** A user's own rules combined with the shared policy they were made from. */
interface Stricter {
  rules: readonly Rule[]
  shared: Policy | undefined
  permissions: Permissions
}

export class RulesInForce {
  /** Rules for all users; missing when every call is allowed. */
  shared: Permissions | undefined
  readonly #options: RulesInForceOptions
  readonly #limits = new CallLimits()
  readonly #stricter = new WeakMap<UserRules, Stricter>()

  constructor(options: RulesInForceOptions, policy: Policy | undefined) {
    this.#options = options
    this.#use(policy)
  }

  /**
   * The shared rules plus those of the user's own folder.
   * @throws BridgeError CONFIG_INVALID while the latter are invalid
   */
  async of(user: UserRules | undefined): Promise<Permissions | undefined> {
    const rules = await user?.read()
    if (user === undefined || rules === undefined || rules.length === 0) return this.shared
    const shared = this.shared?.policy
    const known = this.#stricter.get(user)
    if (known?.rules === rules && known.shared === shared) return known.permissions
    const { Policy } = await import('../../config/rules/policy.ts')
    const { permissions: preset, flow } = this.#options.settings
    const policy = new Policy([...(shared?.rules ?? []), ...rules], preset, flow)
    const permissions = known?.permissions ?? this.#newPermissions(policy)
    permissions.policy = policy
    this.#stricter.set(user, { rules, shared, permissions })
    return permissions
  }

  /** Whether the files may have changed since they were read. */
  hasChanged(): boolean {
    return this.#options.files.hasChanged()
  }

  /** Reads the files again. @throws BridgeError CONFIG_INVALID while they are invalid: the old rules stay in force */
  async refresh(found: readonly FoundServer[]): Promise<void> {
    this.#use(await this.#options.files.read(found))
  }

  /** One sentence for each rule that matches no known tool. */
  unmatched(): string[] {
    if (!this.shared) return []
    const { catalog } = this.#options
    const known = catalog.servers().map(({ name, toolCount }): KnownServer => ({
      name,
      ...(toolCount !== undefined && { tools: catalog.details(name).tools.map((tool) => tool.name) }),
    }))
    return unmatchedRules(this.shared.policy.rules, known)
  }

  async close(): Promise<void> {
    await this.shared?.options.questions.close()
  }

  #use(policy: Policy | undefined): void {
    if (policy === undefined) this.shared = undefined
    else if (this.shared) this.shared.policy = policy
    else this.shared = this.#newPermissions(policy)
  }

  #newPermissions(policy: Policy): Permissions {
    const { settings, catalog, upstreams, firstListings, definitions, page } = this.#options
    const { stateDir, askTimeoutMs, open } = settings
    const keyOf = (server: string): string => {
      const definition = upstreams.definitions.find(({ name }) => name === server)
      return definition ? definitionKey(definition) : ''
    }
    return new Permissions({
      policy,
      definitions,
      tools: (server) => catalog.details(server).tools,
      isChanged: ({ method, server, name }: CatalogTool) =>
        method === undefined && firstListings.isChanged(keyOf(server), name),
      refresh: async (server, signal) => {
        if (!catalog.isFresh(server)) await upstreams.listTools(server, signal)
        await firstListings.settled(keyOf(server))
      },
      accept: ({ server, definition }) => firstListings.accept(keyOf(server), [definition]),
      remember: async (rule) => void (await rememberRules(stateDir, [{ verdict: 'allow', rule }])),
      askTimeoutMs,
      questions: new KeptQuestions(stateDir, askTimeoutMs),
      limits: this.#limits,
      page,
      opensBrowser: open,
    })
  }
}
