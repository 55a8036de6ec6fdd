// The line of a tool that can be pasted: its call with parameters, the type of its result, and a comment. Pure.
import { isRecord } from '../../../util/json/json.ts'
import { CatalogOffering } from '../model/catalog-offering.ts'
import type { CatalogTool } from '../model/catalog-tool.ts'
import { FULL, parametersText, SHORT } from '../signature/signature.ts'
import { mediaInBox, schemaInBox } from '../model/result-parts.ts'
import { readsFiles } from '../model/shape.ts'
import { isTooComplex } from '../signature/json-schema.ts'
import { typeText } from '../signature/schema-type.ts'
import { deprecationNote } from './deprecation.ts'
import { firstSentence } from '../../../util/text/server-words.ts'

export type Detail = 'summary' | 'full'

const COMMENT_LIMIT = 72
const RETURN_LIMIT = 60

/** `await mcp_github.create_issue(*, owner: str, body: str = None) -> dict  # Create a new issue` */
export function toolLine(tool: CatalogTool, detail: Detail = 'summary', observed?: unknown, asks = false): string {
  if (tool instanceof CatalogOffering) return tool.line(detail === 'full' ? FULL : SHORT)
  const { definition } = tool
  const returns = returnType(tool, detail, observed)
  // With `full`, the whole description follows below.
  const said =
    detail === 'full'
      ? ''
      : firstSentence(definition.description, COMMENT_LIMIT) || firstSentence(definition.title, COMMENT_LIMIT)
  const against = deprecationNote(definition)
  // Omit the note when the first sentence already says it.
  const warned = against !== undefined && !said.toLowerCase().includes('deprecated') ? [against] : []
  const parameters = parametersText(tool.signature, detail === 'full' ? FULL : SHORT)
  const marks = [
    ...(asks ? ['asks the user'] : []),
    ...(returns.observed ? ['observed'] : []),
    ...(isTooComplex(tool.signature.root) ? ['types too complex to show'] : []),
  ]
  const comment = [...marks, ...warned, ...(said === '' ? [] : [said])].join('; ')
  return (
    `await mcp_${tool.serverAlias}.${tool.alias}(${parameters})` +
    `${returns.text === undefined ? '' : ` -> ${returns.text}`}${comment === '' ? '' : `  # ${comment}`}`
  )
}

/** The type of the Python result: from the output schema, otherwise from observed results, otherwise unknown. */
export function returnType(
  tool: CatalogTool,
  detail: Detail,
  observed?: unknown,
): { text: string | undefined; observed: boolean } {
  const declared = tool.definition.outputSchema
  const limit = detail === 'full' ? FULL.requiredType : RETURN_LIMIT
  const seen = isRecord(observed) && !readsFiles(tool) ? typeText(observed, observed, limit) : undefined
  const promised = isRecord(declared)
    ? typeText(mediaInBox(declared) ?? schemaInBox(declared) ?? declared, declared, limit)
    : undefined
  // Also where the schema promises a text, and rows were seen in it.
  const isSeen = seen !== undefined && (promised === undefined || (promised === 'str' && seen.startsWith('Text')))
  const text = isSeen ? seen : (promised ?? (isText(tool) ? 'str' : undefined))
  return text === 'Any' ? { text: undefined, observed: false } : { text, observed: isSeen }
}

/** A result without a schema is text, unless the description promises JSON, which is parsed, or an image. */
function isText({ method, name, definition }: CatalogTool): boolean {
  return (
    method === undefined &&
    !readsFiles({ name, definition }) &&
    !/json|image|screenshot|picture|photo|audio|media|base64|binary/i.test(`${name} ${definition.description ?? ''}`)
  )
}
