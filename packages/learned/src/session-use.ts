// Notices, in each session, what its calls teach: a search that led to a call, and a call that worked after an error
// with other arguments. Every call passes here, so what it does for most of them is kept cheap.
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { CatalogTool } from '@sandbridge/core/calls/catalog'
import { tokens } from '@sandbridge/search/index/tokenize.ts'
import { type Arguments, type CallPlace, type Learned, type ToolIdentity } from '@sandbridge/core/parts'
import { knownMeanings } from '@sandbridge/search/known-meanings.ts'
import type { Store } from '@sandbridge/core/util/stores'
import type { Log } from '@sandbridge/core/util'
import { argumentShape, workedCall } from './argument-shape.ts'
import { LearnedCalls } from './learned-calls.ts'
import { shapes } from './learned-types.ts'
import { wordingOf } from './wording.ts'

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

const seen = new WeakMap<object, Seen>()

export function createLearned(store: Store, log: Log): Learned {
  const learned = new LearnedCalls(store, log)
  return {
    ready: () => learned.ready(),
    ledTo: (...wordings) => learned.ledTo(...wordings),
    daysOfUse: (server) => learned.daysOfUse(server),
    forget: (servers) => learned.forget(servers),
    flush: () => learned.flush(),
    shapes,
    workedCall: (server, tool) => {
      const call = learned.worked(server, tool.name)
      return call?.print === tool.fingerprint ? workedCall(tool, call.shape) : undefined
    },
    noteSearch: (session, wordings, docs) => {
      if (docs.length === 0) return
      const { searches } = seenBy(session)
      const tools = new Set(docs.slice(0, MAX_FIRST).map(({ server, tool }) => `${server} ${tool}`))
      searches.push({ wordings, tools })
      if (searches.length > MAX_SEARCHES) searches.shift()
    },
    noteResult: ({ session, catalog }, tool, args, isFailure) => {
      learned.learnUse(catalog.of(tool.server).key)
      if (isFailure) return noteFailure(session, tool, args)
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
      const [identity, own] = [identityOf(tool, catalog), ownWords(tool)]
      const isOwn = (word: string): boolean => own.has(word)
      // Common words. Without their list, only the tool's.
      const isKnown = (word: string): boolean => own.has(word) || knownMeanings()?.isKnown(word) === true
      for (const wording of search.wordings) learned.learnWording(identity, wordingOf(wording, isKnown, isOwn))
    },
    noteError: ({ session }, tool, args, error) => {
      if (BridgeError.isInstance(error) && error.code === 'TOOL_FAILED') noteFailure(session, tool, args)
    },
  }
}

function noteFailure(session: object, tool: CatalogTool, args: Arguments): void {
  const { failed } = seenBy(session)
  const shape = argumentShape(tool, args)
  const name = `${tool.server} ${tool.name}`
  failed.delete(name)
  if (shape && failed.size < MAX_FAILED) failed.set(name, JSON.stringify(shape))
}

function ownWords({ server, name, description }: CatalogTool): Set<string> {
  return new Set(tokens(`${server} ${name} ${description}`).map(({ word }) => word))
}

function identityOf({ server, name, fingerprint }: CatalogTool, catalog: CallPlace['catalog']): ToolIdentity {
  return { server: catalog.of(server).key, name, print: fingerprint }
}

function seenBy(session: object): Seen {
  let found = seen.get(session)
  if (!found) seen.set(session, (found = { searches: [], called: new Set(), failed: new Map() }))
  return found
}
