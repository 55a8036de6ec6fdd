// Functions that cells save, in versions. Callers of `save` check that they load. Unreadable ones are broken.
import * as z from 'zod'
import { Turns } from '@sandbridge/core/util/async'
import { didYouMeanText } from '@sandbridge/core/util/text'
import { parseJson } from '@sandbridge/core/util/json/json.ts'
import { firstOf } from '@sandbridge/core/util/text'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { MAX_SOURCE_CHARS, type SavedTool, type SavedToolContent, savedToolContent } from './saved-tool.ts'
import { skillText } from './skill-text.ts'
import type { Store, Versions } from '@sandbridge/core/util/stores'

const MAX_TOOLS = 500
const MAX_VERSIONS = 100
const FILE = 'tool.json'
const SKILL_FILE = 'SKILL.md'

const record = savedToolContent.extend({ createdAt: z.string() })

export interface BrokenTool {
  name: string
  version: number
  problem: string
}

export class SavedToolStore {
  readonly #versions: Versions
  /** Versions never change, so each is read once. */
  readonly #read = new Map<string, SavedTool>()
  readonly #turns = new Turns(1)

  constructor(store: Store) {
    this.#versions = store.versions('tools', 'a saved tool')
  }

  /**
   * Save a version after `check` verifies that it loads. Returns the newest version if it is the same.
   * @throws BridgeError STATE_REFUSED for a quota, or a function in place of a workflow or the reverse;
   * STATE_UNWRITABLE, and what `check` throws
   */
  save(content: SavedToolContent, check: () => Promise<void>): Promise<SavedTool> {
    return this.#turns.run(undefined, () => this.#save(content, check))
  }

  /** Returns the newest version of every tool, and the tools whose newest version is damaged. */
  async list(): Promise<{ tools: SavedTool[]; broken: BrokenTool[] }> {
    const tools: SavedTool[] = []
    const broken: BrokenTool[] = []
    for (const [name, versions] of await this.#versions.all()) {
      const version = versions.at(-1)!
      try {
        tools.push(await this.#find(name, version))
      } catch (error) {
        broken.push({ name, version, problem: BridgeError.isInstance(error) ? error.message : 'it cannot be read' })
      }
    }
    return { tools, broken }
  }

  async versions(name: string): Promise<number[]> {
    return this.#versions.versions(name).catch(() => [])
  }

  /** Returns a version, or the newest. @throws BridgeError STATE_NOT_FOUND with similar names, or the damage */
  async find(name: string, version?: number): Promise<SavedTool> {
    const versions = await this.versions(name)
    const wanted = version ?? versions.at(-1)
    if (wanted === undefined || !versions.includes(wanted)) throw await this.#notFound(name, version, versions)
    return this.#find(name, wanted)
  }

  async #find(name: string, wanted: number): Promise<SavedTool> {
    const key = `${name}/${wanted}`
    const known = this.#read.get(key)
    if (known) return known
    const parsed = record.safeParse(parseJson((await this.#versions.read(name, wanted, FILE)).toString()))
    if (!parsed.success || parsed.data.name !== name) {
      throw new BridgeError('STATE_NOT_FOUND', `Version ${wanted} of the saved tool '${name}' is damaged`, {
        hint: `Save the function again, or delete it: runtime.delete_tool(${JSON.stringify(name)}).`,
      })
    }
    const tool = { ...parsed.data, version: wanted }
    this.#read.set(key, tool)
    return tool
  }

  /** Delete a tool with all its versions. @throws BridgeError STATE_NOT_FOUND */
  async remove(name: string): Promise<void> {
    if (!(await this.#versions.remove(name))) throw await this.#notFound(name, undefined, [])
    this.#read.clear()
  }

  async #save(content: SavedToolContent, check: () => Promise<void>): Promise<SavedTool> {
    const versions = await this.versions(content.name)
    const newest = versions.length > 0 ? await this.find(content.name).catch(() => undefined) : undefined
    if (newest && isSame(newest, content)) return newest
    if (newest) refuseOtherKind(newest, content)
    const names = [...(await this.#versions.all()).keys()]
    if (versions.length === 0 && names.length >= MAX_TOOLS) {
      throw new BridgeError('STATE_REFUSED', `The limit of ${MAX_TOOLS} saved tools is reached`, {
        hint: 'Delete some with runtime.delete_tool(name).',
      })
    }
    if (versions.length >= MAX_VERSIONS) {
      throw new BridgeError('STATE_REFUSED', `'${content.name}' has reached the limit of ${MAX_VERSIONS} versions`, {
        hint: `Delete it first: runtime.delete_tool(${JSON.stringify(content.name)}).`,
      })
    }
    await check()
    const kept = { ...content, createdAt: new Date().toISOString() }
    const version = await this.#versions.add(content.name, {
      [FILE]: `${JSON.stringify(kept, undefined, 2)}\n`,
      ...(content.workflow && { [SKILL_FILE]: skillText(content, content.workflow) }),
    })
    return { ...kept, version }
  }

  async #notFound(name: string, version: number | undefined, versions: number[]): Promise<BridgeError> {
    if (versions.length > 0) {
      return new BridgeError('STATE_NOT_FOUND', `The saved tool '${name}' has no version ${version}`, {
        hint: `Its versions: ${versions.join(', ')}`,
      })
    }
    const names = [...(await this.#versions.all()).keys()]
    const hints =
      names.length > 0
        ? { hint: didYouMeanText(name, names) || `Saved tools: ${firstOf(names)}` }
        : {
            hint: 'No tool has been saved yet. Save one with runtime.save_tool(func).',
            userHint: 'None has been saved yet. `sandbridge save` makes a workflow of recorded runs.',
          }
    return new BridgeError('STATE_NOT_FOUND', `There is no saved tool or workflow '${name.slice(0, 200)}'`, hints)
  }
}

/** Functions and workflows share their names. One of the other kind may be on a schedule, or imported by cells. */
function refuseOtherKind({ name, workflow: was }: SavedTool, { workflow: becomes }: SavedToolContent): void {
  if (Boolean(was) === Boolean(becomes)) return
  const what = was ? `the workflow '${was.title}'` : 'a saved function'
  throw new BridgeError('STATE_REFUSED', `It cannot be saved: '${name}' is the name of ${what}`, {
    hint: `Choose another name. To replace it, first ask the user, then runtime.delete_tool(${JSON.stringify(name)}).`,
  })
}

/** Validates a tool from a cell or a file. @throws BridgeError STATE_REFUSED that names the invalid part */
export function parseSavedTool(value: unknown): SavedToolContent {
  const parsed = savedToolContent.safeParse(value)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'it'}: ${issue.message}`)
  throw new BridgeError('STATE_REFUSED', `The tool cannot be saved: ${problems.slice(0, 5).join('; ')}`, {
    hint: `A tool is one function of at most ${MAX_SOURCE_CHARS / 1024} KiB of source, with a plain name.`,
  })
}

function isSame(tool: SavedTool, content: SavedToolContent): boolean {
  const essence = ({ name, source, imports, servers, signature, description, isAsync, ...rest }: SavedToolContent) =>
    JSON.stringify([name, source, imports, servers, signature, description, isAsync, rest.workflow])
  return essence(tool) === essence(content)
}
