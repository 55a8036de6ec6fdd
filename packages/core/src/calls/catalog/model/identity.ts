// What tells one server, and one tool, from another that has its name. Pure.
import { hash } from 'node:crypto'
import type { ServerDefinition } from '../../../config/entries/server-definition.ts'
import type { UpstreamTool } from '../../../upstream/upstream.ts'
import { sortedJson } from '../../../util/json/json.ts'

/** Raised when types are learned in another way. */
const LEARNED_FORMAT = 2

/** Cached, because every call under rules needs a key. A changed definition is a new object. */
const keys = new WeakMap<ServerDefinition['transport'], string>()

/** Identifies a definition by its transport; name, description and file do not count. */
export function definitionKey({ transport }: ServerDefinition): string {
  let key = keys.get(transport)
  if (key === undefined) keys.set(transport, (key = hash('sha256', sortedJson(transport))))
  return key
}

const fingerprints = new WeakMap<UpstreamTool, string>()

/** Identifies a tool's definition, so that types learned from an older definition are not used. */
export function toolFingerprint(tool: UpstreamTool): string {
  let made = fingerprints.get(tool)
  if (made === undefined) {
    const about = [LEARNED_FORMAT, tool.inputSchema, tool.description, tool.title]
    fingerprints.set(tool, (made = hash('sha256', sortedJson(about)).slice(0, 16)))
  }
  return made
}
