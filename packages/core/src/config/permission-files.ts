// Where rules come from: permissions.json, the profile's file, definitions of servers, and a project's file, which can
// only make things stricter. An invalid file is an error of the bridge, never ignored.
import path from 'node:path'
import { BridgeError } from '../errors.ts'
import type { MaskPattern, RuleProblem, RulesOfFile, TrustedText } from './rules/permissions-schema.ts'
import type { Policy } from './rules/policy.ts'
import type { Origin, Rule } from './rules/rule.ts'
import { RULES, rules as part } from './rules/rules-part.ts'
import { type ConfigFileSystem, nodeFileSystem, readFileOrLink } from './config-file.ts'
import { PERMISSIONS_FILE, SETTINGS_FILE } from './readers/own-places.ts'
import { PlacesSeen } from './places-seen.ts'
import type { FoundServer } from './entries/server-definition.ts'
import type { Settings } from './settings/settings.ts'

/** Enough for ten thousand rules. */
const MAX_BYTES = 2 * 2 ** 20
const HINT = 'No code runs until it is corrected. docs/permissions.md describes the file.'

export function permissionsFile(stateDir: string): string {
  return path.join(stateDir, PERMISSIONS_FILE)
}

/** The rules of a profile are the user's, in a separate file. */
function originOfProfile(stateDir: string, profile: string): Origin {
  const shown = `permissions-${profile}.json`
  return { scope: 'user', file: path.join(stateDir, shown), shown }
}

function projectPermissionsFile(cwd: string): string {
  return path.join(cwd, '.sandbridge', PERMISSIONS_FILE)
}

export class PermissionFiles {
  readonly #settings: Pick<Settings, 'stateDir' | 'permissions' | 'flow' | 'profile'>
  readonly #cwd: string
  readonly #warn: (message: string) => void
  #seen = new PlacesSeen()
  #isRead = false
  /** The patterns to mask from the user's own files, as last read. */
  mask: readonly MaskPattern[] = []
  /** The servers whose text the user's own files trust, as last read. */
  trust: readonly TrustedText[] = []

  /** @param cwd the folder whose project has rules @param warn is told of a project's file that is skipped */
  constructor(
    settings: Pick<Settings, 'stateDir' | 'permissions' | 'flow' | 'profile'>,
    cwd: string,
    warn: (message: string) => void = () => {},
  ) {
    this.#settings = settings
    this.#cwd = cwd
    this.#warn = warn
  }

  /**
   * Reads the rules in force; undefined when everything is allowed.
   * @throws BridgeError CONFIG_INVALID with file, line and column of every problem
   */
  async read(found: readonly FoundServer[] = []): Promise<Policy | undefined> {
    const { stateDir, permissions: preset, flow, profile } = this.#settings
    this.#isRead = false
    const seen = (this.#seen = new PlacesSeen(() => [this.#settings.permissions, this.#settings.profile]))
    const files = seen.noting(nodeFileSystem)
    // What happens to calls without a rule is a setting.
    seen.note(path.join(stateDir, SETTINGS_FILE))
    const own = permissionsFile(stateDir)
    const projects = projectPermissionsFile(this.#cwd)
    const ours = await readRulesFile(files, { scope: 'user', file: own, shown: PERMISSIONS_FILE })
    const ofProfile = profile === undefined ? NO_RULES : await readRulesFile(files, originOfProfile(stateDir, profile))
    // `sandbridge permissions --distrust` takes back what permissions.json has.
    if (profile !== undefined && ofProfile.trust.length > 0)
      throw invalid(`${originOfProfile(stateDir, profile).file}: trust is for your own permissions.json`)
    this.mask = [...ours.mask, ...ofProfile.mask]
    this.trust = ours.trust
    const lists = [
      ours.rules,
      ofProfile.rules,
      path.resolve(projects) === path.resolve(own)
        ? []
        : (
            await readRulesFile(
              files,
              { scope: 'project', file: projects, shown: '.sandbridge/permissions.json' },
              this.#warn,
            )
          ).rules,
      ...(await Promise.all(found.map(rulesOfServer))),
    ]
    const rules = lists.flat()
    this.#isRead = true
    if (rules.length === 0 && preset === 'open' && flow === 'off') return undefined
    return (await part.for(RULES)).policyOf(rules, preset, flow)
  }

  /** Whether a file or a setting may have changed since it was read, or the last read failed. */
  hasChanged(): boolean {
    return !this.#isRead || this.#seen.hasChanged()
  }
}

const NO_RULES: RulesOfFile = { rules: [], mask: [], trust: [] }

/**
 * @param skip is told of a named pipe, a folder or the like, which then has no rules: it is not a file that its author
 * could correct, and in a project of someone else it must not stop the bridge. Without `skip` it is an error.
 * @throws BridgeError CONFIG_INVALID with file, line and column of every problem
 */
async function readRulesFile(
  files: ConfigFileSystem,
  origin: Origin,
  skip?: (warning: string) => void,
): Promise<RulesOfFile> {
  const { file } = origin
  const read = await readFileOrLink(files, file)
  if ('absent' in read) return NO_RULES
  if ('reason' in read && read.isOrdinary === false && skip) {
    skip(`${file} ${read.reason}. Its rules are skipped.`)
    return NO_RULES
  }
  if ('reason' in read) throw invalid(`${file}: ${read.reason}`)
  if (read.text.length > MAX_BYTES) throw invalid(`${file}: is larger than ${MAX_BYTES / 2 ** 20} MiB`)
  const { readRules } = await part.for(RULES)
  const result = await readRules(read.text, origin)
  if ('rules' in result) return result
  throw invalid(result.problems.map((problem) => `${file}${at(problem)}: ${problem.reason}`).join('\n'))
}

/** Rules of a duplicate apply to the server that it duplicates. */
async function rulesOfServer({ definition, name }: FoundServer): Promise<Rule[]> {
  const { permissions, source, isProjects } = definition
  if (permissions === undefined) return []
  const { rulesOf } = await part.for(RULES)
  const shown = `the definition of ${definition.name}`
  const result = await rulesOf(permissions, {
    scope: isProjects ? 'project' : 'user',
    file: source.file,
    shown,
    server: name,
  })
  if ('rules' in result) return result.rules
  throw invalid(result.problems.map(({ reason }) => `${source.file}: ${shown}: ${reason}`).join('\n'))
}

function at({ place }: RuleProblem): string {
  return place === undefined ? '' : `:${place.line}:${place.column}`
}

function invalid(message: string): BridgeError {
  return new BridgeError('CONFIG_INVALID', message, { hint: HINT })
}

export class UserRules {
  readonly #file: string
  #seen = new PlacesSeen()
  #rules: readonly Rule[] | undefined

  constructor(folder: string) {
    this.#file = path.join(folder, PERMISSIONS_FILE)
  }

  /** Returns the same list while the file is unchanged. @throws BridgeError CONFIG_INVALID with every problem */
  async read(): Promise<readonly Rule[]> {
    if (this.#rules && !this.#seen.hasChanged()) return this.#rules
    this.#rules = undefined
    const seen = (this.#seen = new PlacesSeen())
    const origin = { scope: 'project', file: this.#file, shown: 'permissions.json of this user' } as const
    const { rules } = await readRulesFile(seen.noting(nodeFileSystem), origin)
    return (this.#rules = rules)
  }
}
