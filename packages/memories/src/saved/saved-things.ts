// What one user's cells have saved: artifacts and tools. The core and other packages use them through this.
import path from 'node:path'
import type { ReadMasker, Saved, SavedOptions, SessionFlow, UserState } from '@sandbridge/core/parts'
import type { ShownResult } from '@sandbridge/core/cell/render'
import { firstOf, oneLine } from '@sandbridge/core/util/text'
import { listArtifacts, readArtifact } from './artifact-resources.ts'
import { ArtifactStore } from './artifact-store.ts'
import { checkSavedTool, findProblems } from './check-saved-tool.ts'
import { linkPictures } from './link-pictures.ts'
import { LoadableTools } from './loadable-tools.ts'
import { SAVED_TOOLS_MODULE, type SavedTool, type SavedToolContent, savedToolLine, writtenText } from './saved-tool.ts'
import { type BrokenTool, SavedToolStore } from './saved-tool-store.ts'
import { searchWithSaved } from './search-with-saved.ts'

const MAX_PROBLEM_CHARS = 200
const MAX_NAMED = 5

export class SavedThings implements Saved {
  readonly artifacts: ArtifactStore
  readonly tools: SavedToolStore
  readonly loadable: LoadableTools
  readonly #takeKernel: SavedOptions['takeKernel']

  constructor({ store, cacheFolder, takeKernel, environment, log }: SavedOptions) {
    this.artifacts = new ArtifactStore(store)
    this.tools = new SavedToolStore(store)
    this.#takeKernel = takeKernel
    this.loadable = new LoadableTools({
      store: this.tools,
      environment,
      file: path.join(cacheFolder, 'loadable-tools.json'),
      findProblems: (tools) => findProblems(takeKernel, this.tools, tools),
      log,
    })
  }

  /** Saves a tool that loads in a fresh sandbox. @throws BridgeError STATE_REFUSED when it does not, SANDBOX_* */
  saveTool(tool: SavedToolContent): Promise<SavedTool> {
    return this.tools.save(tool, async () => {
      await checkSavedTool(this.#takeKernel, this.tools, tool)
      await this.loadable.remember(tool)
    })
  }

  async search(...[query, options, { catalog, flow, session, signal }]: Parameters<Saved['search']>) {
    const { docs, saved, broken } = await searchWithSaved(query, options, catalog, this.loadable, signal)
    flow?.told(docs.filter(({ server }) => server !== SAVED_TOOLS_MODULE))
    await opens(flow, { tools: saved })
    if (broken.length > 0) session.tellOnce(brokenNote(broken))
    return docs
  }

  async lines(flow?: SessionFlow): Promise<string[]> {
    const { tools, broken } = await this.loadable.list()
    await opens(flow, { tools, broken })
    // Broken tools first: the end of a long list is cut.
    return [
      ...broken.map((tool) => `${tool.name} is broken: ${oneLine(tool.problem, MAX_PROBLEM_CHARS)}`),
      ...tools.map((tool) => savedToolLine(tool)),
    ]
  }

  linkPictures(result: ShownResult) {
    return linkPictures(result, this.artifacts)
  }

  listResources(masker: ReadMasker | undefined) {
    return listArtifacts(this.artifacts, masker)
  }

  readResource(uri: string, masker: ReadMasker | undefined) {
    return readArtifact(this.artifacts, uri, masker)
  }
}

export const openSaved = (options: SavedOptions): SavedThings => new SavedThings(options)

export function savedOf({ saved }: Pick<UserState, 'saved'>): SavedThings {
  if (saved instanceof SavedThings) return saved
  throw new Error('The bridge was opened without what is saved')
}

/** A cell reads saved tools. What is wrong with a broken one may be in the words of its code. */
export async function opens(
  flow: SessionFlow | undefined,
  { tools, broken = [] }: { tools: readonly SavedTool[]; broken?: readonly BrokenTool[] },
): Promise<void> {
  await flow?.opens('saved tools', tools.map(writtenText), { isCode: true })
  if (broken.length > 0) flow?.returned({ server: 'saved tools', name: 'broken' }, broken)
}

function brokenNote(broken: BrokenTool[]): string {
  const names = firstOf(
    broken.map((tool) => tool.name),
    MAX_NAMED,
  )
  return `Not searched, because they cannot be loaded: ${names} (saved tools). See print(runtime.list_saved_tools())`
}
