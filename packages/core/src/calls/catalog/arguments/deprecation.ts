// Finds whether a server advises against a tool, and the text that says so. Pure.
import type { UpstreamTool } from '../../../upstream/upstream.ts'
import { oneLine } from '../../../util/text/server-words.ts'

/** Characters of a description that are read. */
const MAX_READ = 4000
/** Longest note, in UTF-16 units. */
const NOTE_LIMIT = 72

/** A quick test first: every tool is checked, and most are not deprecated. */
const MAY_SAY = /deprecated|obsolete|superseded/i
const MARKERS = new Set(['deprecated', 'obsolete'])
/** Statements about the tool itself. "Lists deprecated endpoints" is not one. */
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

/** A server's deprecation note, on one line: `DEPRECATED: Use read_text_file instead`. Undefined when it has none. */
export function deprecationNote({ name, title, description, annotations }: Definition): string | undefined {
  for (const text of [description, title, annotations?.title]) {
    if (typeof text !== 'string' || !MAY_SAY.test(text.slice(0, MAX_READ))) continue
    const sentences = text.slice(0, MAX_READ).split(/(?<=[.!?])\s+|[\r\n]+/)
    const said = sentences.find((sentence) => STATEMENTS.some((statement) => statement.test(sentence)))
    if (said !== undefined) return noteOf(said)
  }
  if (!MAY_SAY.test(name)) return undefined
  const parts = name
    .split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/)
    .map((part) => part.toLowerCase())
    .filter(Boolean)
  return MARKERS.has(parts[0] ?? '') || MARKERS.has(parts.at(-1) ?? '') ? 'deprecated' : undefined
}

/** Starts at the marker: the text before it describes the tool. */
function noteOf(sentence: string): string {
  const start = sentence.search(/\bDEPRECATED\b/)
  return oneLine(start > 0 ? sentence.slice(start) : sentence, NOTE_LIMIT).replace(/[.;:]$/, '')
}
