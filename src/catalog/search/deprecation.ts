// Whether a server advises against a tool, and in which words. Pure.
import type { UpstreamTool } from '../../upstream/upstream.ts'
import { oneLine } from '../../text/one-line.ts'
import { words } from './tokenize.ts'

/** As much of a description as is looked at, in characters. */
const MAX_READ = 4000
/** Longest note, in UTF-16 units. */
const NOTE_LIMIT = 72

/** One search for the words first: most tools are not deprecated, and every tool is looked at. */
const MAY_SAY = /deprecated|obsolete|superseded/i
const MARKERS = new Set(['deprecated', 'obsolete'])
/** What a sentence says about its own tool. "Lists deprecated endpoints" is none of these. */
const STATEMENTS = [
  /** `DEPRECATED: use x`, `Deprecated.`, `Deprecated in favor of x` */
  /^\W*(?:deprecated|obsolete)(?:\W*$|\s*[:.!,;)\]\u2013\u2014-]|\s+(?:in|since|as|and|by|use|alias|version|method|tool)\b)/i,
  /** `[Deprecated] Reads a file`, `Read file (deprecated)` */
  /[([]\s*(?:deprecated|obsolete)\b/i,
  /** `This tool is now deprecated`, `The method has been superseded by x` */
  /\b(?:this|the)(?:\s+\w+){0,2}\s+(?:is|has been|will be)(?:\s+(?:now|being))?\s+(?:deprecated|obsolete|superseded)\b/i,
  /** `It is deprecated`, `Is deprecated in favor of x` */
  /^\W*(?:it\s+)?(?:is|has been)(?:\s+now)?\s+(?:deprecated|obsolete)\b/i,
  /** `Reads a file - DEPRECATED, use x` */
  /\bDEPRECATED\b/,
]

type Definition = Pick<UpstreamTool, 'name' | 'title' | 'description' | 'annotations'>

export function isDeprecated(definition: Definition): boolean {
  return deprecationNote(definition) !== undefined
}

/** What a server says against using a tool, on one line: `DEPRECATED: Use read_text_file instead`. Undefined when it says nothing against it. */
export function deprecationNote({ name, title, description, annotations }: Definition): string | undefined {
  for (const text of [description, title, annotations?.title]) {
    if (typeof text !== 'string' || !MAY_SAY.test(text.slice(0, MAX_READ))) continue
    const sentences = text.slice(0, MAX_READ).split(/(?<=[.!?])\s+|[\r\n]+/)
    const said = sentences.find((sentence) => STATEMENTS.some((statement) => statement.test(sentence)))
    if (said !== undefined) return noteOf(said)
  }
  if (!MAY_SAY.test(name)) return undefined
  const parts = words(name)
  return MARKERS.has(parts[0] ?? '') || MARKERS.has(parts.at(-1) ?? '') ? 'deprecated' : undefined
}

/** From the marker on, since what stands before it describes the tool. */
function noteOf(sentence: string): string {
  const start = sentence.search(/\bDEPRECATED\b/)
  return oneLine(start > 0 ? sentence.slice(start) : sentence, NOTE_LIMIT).replace(/[.;:]$/, '')
}
