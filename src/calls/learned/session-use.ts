// Notices, in each session, what its calls teach: a search that led to a call, and a call that worked after an error
// with other arguments. Every call passes here, so what it does for most of them is kept cheap.
import { BridgeError } from '../../errors.ts'
import type { Session } from '../../cell/session/session.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { toolFingerprint } from '../catalog/disk-cache.ts'
import type { CatalogTool } from '../catalog/model/catalog-tool.ts'
import { tokens } from '../catalog/search/tokenize.ts'
import type { ToolDoc } from '../catalog/arguments/tool-doc.ts'
import { wordVectors } from '../catalog/word-vectors-file.ts'
import { argumentShape } from './argument-shape.ts'
import type { LearnedCalls, ToolIdentity } from './learned-calls.ts'
import { wordingOf } from './wording.ts'

interface Learner {
  session: Session
  catalog: Catalog
  /** What the user of the session has taught; missing when nothing is learned. */
  learned: LearnedCalls | undefined
}

interface Search {
  wordings: readonly string[]
  /** The first tools of its answer. */
  tools: ReadonlySet<string>
}

interface Seen {
  /** The last one last. */
  searches: Search[]
  /** Tools that were called with success: what comes later did not lead to them. */
  called: Set<string>
  /** By tool, the arguments of its last call, which failed. */
  failed: Map<string, string>
}

const MAX_SEARCHES = 5
/** Of a long answer, only these tools count: any tool of the catalog may stand below. */
const MAX_FIRST = 10
const MAX_CALLED = 1_000
const MAX_FAILED = 50

const seen = new WeakMap<Session, Seen>()

/** A search of the session was answered. */
export function noteSearch({ session, learned }: Learner, wordings: readonly string[], docs: readonly ToolDoc[]): void {
  if (!learned || docs.length === 0) return
  const { searches } = seenBy(session)
  searches.push({ wordings, tools: new Set(docs.slice(0, MAX_FIRST).map(({ server, tool }) => `${server} ${tool}`)) })
  if (searches.length > MAX_SEARCHES) searches.shift()
}

/** A call has ended with a result, which may say that the tool failed. */
export function noteResult(learner: Learner, tool: CatalogTool, args: Arguments, isFailure: boolean): void {
  const { session, catalog, learned } = learner
  if (!learned) return
  learned.learnUse(catalog.of(tool.server).key)
  if (isFailure) return noteFailure(learner, tool, args)
  const { searches, called, failed } = seenBy(session)
  const name = `${tool.server} ${tool.name}`
  const failedWith = failed.get(name)
  if (failedWith !== undefined) {
    failed.delete(name)
    const shape = argumentShape(tool, args)
    if (shape && JSON.stringify(shape) !== failedWith) learned.learnShape(identityOf(tool, catalog), shape)
  }
  if (called.has(name)) return
  if (called.size < MAX_CALLED) called.add(name)
  const search = searches.findLast(({ tools }) => tools.has(name))
  if (!search) return
  const [identity, isKnown] = [identityOf(tool, catalog), knownWords(tool)]
  for (const wording of search.wordings) learned.learnWording(identity, wordingOf(wording, isKnown))
}

/** A call has ended with an error. Only one of the tool says something about its arguments. */
export function noteError(learner: Learner, tool: CatalogTool, args: Arguments, error: unknown): void {
  if (learner.learned && BridgeError.isInstance(error) && error.code === 'TOOL_FAILED') noteFailure(learner, tool, args)
}

type Arguments = Readonly<Record<string, unknown>>

function noteFailure({ session }: Learner, tool: CatalogTool, args: Arguments): void {
  const { failed } = seenBy(session)
  const shape = argumentShape(tool, args)
  const name = `${tool.server} ${tool.name}`
  failed.delete(name)
  if (shape && failed.size < MAX_FAILED) failed.set(name, JSON.stringify(shape))
}

/** Common words, and words of the tool itself. Without the list of common words, only the tool's. */
function knownWords({ server, name, description }: CatalogTool): (word: string) => boolean {
  const own = new Set(tokens(`${server} ${name} ${description}`).map(({ word }) => word))
  return (word) => own.has(word) || wordVectors()?.row(word) !== undefined
}

/** The tool as it is now. */
function identityOf({ server, name, definition }: CatalogTool, catalog: Catalog): ToolIdentity {
  return { server: catalog.of(server).key, name, print: toolFingerprint(definition) }
}

function seenBy(session: Session): Seen {
  let found = seen.get(session)
  if (!found) seen.set(session, (found = { searches: [], called: new Set(), failed: new Map() }))
  return found
}
