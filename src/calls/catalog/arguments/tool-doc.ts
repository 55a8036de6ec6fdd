// The documentation of a tool: one line that can be pasted, and the mapping around it. Pure.
import { propertiesOf, resolve } from '../signature/json-schema.ts'
import { isRecord } from '../../../util/json/json.ts'
import { CatalogOffering, type OfferingKind } from '../model/catalog-offering.ts'
import type { CatalogTool } from '../model/catalog-tool.ts'
import { FULL, parametersText, SHORT } from '../signature/signature.ts'
import { isTextBox } from '../model/learned-types.ts'
import { typeText } from '../signature/schema-type.ts'
import { deprecationNote } from '../search/deprecation.ts'
import { firstSentence, paragraphs } from '../../../util/text/one-line.ts'
import { exampleCall } from './example-call.ts'

export type Detail = 'summary' | 'full'

/** One parameter, as shown with `detail: "full"`. */
interface ParameterDoc {
  name: string
  type: string
  required: boolean
  default?: string
  description?: string
}

/** docs/protocol.md, "A tool doc". Everything but the names is the server's text: see SERVER_WORDS_NOTE. */
export interface ToolDoc {
  server: string
  serverAlias: string
  tool: string
  toolAlias: string
  description: string
  line: string
  params?: ParameterDoc[]
  /** A call with the required arguments. */
  example?: string
  inputSchema?: unknown
  outputSchema?: unknown
  /** With `full`: the Python type of the result, if known. */
  returns?: string
  /** With `full`: accepts arguments beyond `params`. */
  open?: boolean
  /** Missing for a tool. Otherwise `tool` is the method that reaches it, with `target` as first argument. */
  kind?: OfferingKind
  /** The URI of a resource, a URI template, or the name of a prompt. */
  target?: string
  /** In each doc of a search that found no fitting tool: what its answer begins with. */
  weak?: string
}

const COMMENT_LIMIT = 72
const RETURN_LIMIT = 60
/** Longest description with `full`, in characters. */
const WHOLE_LIMIT = 16_000

/**
 * @param observed the schema learned from real results, if any; used only where the server gives none
 * @param asks whether the user is asked about each call
 */
export function toolDoc(tool: CatalogTool, detail: Detail, observed?: unknown, asks = false): ToolDoc {
  const { definition } = tool
  const doc: ToolDoc = {
    server: tool.server,
    serverAlias: tool.serverAlias,
    tool: tool.name,
    toolAlias: tool.alias,
    description: tool.description,
    line: toolLine(tool, detail, observed, asks),
  }
  if (detail !== 'full') return doc
  doc.description = paragraphs(definition.description, WHOLE_LIMIT) || tool.description
  const example = exampleCall(tool)
  if (example !== undefined) doc.example = example
  doc.params = tool.signature.parameters.map((parameter) => ({
    name: parameter.name,
    type: typeText(parameter.schema, tool.signature.root, FULL.optionalType),
    required: parameter.required,
    ...(parameter.default === undefined ? {} : { default: parameter.default }),
    ...(parameter.description === '' ? {} : { description: parameter.description }),
  }))
  const returns = returnType(tool, detail, observed).text
  if (returns !== undefined) doc.returns = returns
  if (tool.signature.open) doc.open = true
  doc.inputSchema = tool.inputSchema
  if (definition.outputSchema !== undefined) doc.outputSchema = definition.outputSchema
  return doc
}

/** @param method the method that reaches it: `read_resource` or `get_prompt`, with a leading `_` when a tool has that name */
export function offeringDoc(offering: CatalogOffering, detail: Detail, method: string): ToolDoc {
  const { server, serverAlias, description, kind, target } = offering
  const line = offering.line(detail === 'full' ? FULL : SHORT, method)
  return { server, serverAlias, tool: method, toolAlias: method, description, line, kind, target }
}

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
  const marks = [...(asks ? ['asks the user'] : []), ...(returns.observed ? ['observed'] : [])]
  const comment = [...marks, ...warned, ...(said === '' ? [] : [said])].join('; ')
  return (
    `await mcp_${tool.serverAlias}.${tool.alias}(${parametersText(tool.signature, detail === 'full' ? FULL : SHORT)})` +
    `${returns.text === undefined ? '' : ` -> ${returns.text}`}${comment === '' ? '' : `  # ${comment}`}`
  )
}

/** The type of the Python result: from the output schema, otherwise from observed results, otherwise unknown. */
function returnType(
  tool: CatalogTool,
  detail: Detail,
  observed?: unknown,
): { text: string | undefined; observed: boolean } {
  const declared = tool.definition.outputSchema
  const saysLittle = observed !== undefined && isTextBox(declared)
  const schema = isRecord(declared) && !saysLittle ? declared : observed
  if (!isRecord(schema)) return { text: isText(tool) ? 'str' : undefined, observed: false }
  const text = typeText(unboxed(schema), schema, detail === 'full' ? FULL.requiredType : RETURN_LIMIT)
  return text === 'Any' ? { text: undefined, observed: false } : { text, observed: schema !== declared }
}

/** A result without a schema is text, unless the description promises JSON, which is parsed, or an image. */
function isText({ method, name, definition }: CatalogTool): boolean {
  return (
    method === undefined &&
    !/json|image|screenshot|picture|photo|audio|media|base64|binary/i.test(`${name} ${definition.description ?? ''}`)
  )
}

/** The kernel unwraps an object with a single `result` or `content`, so its type is the type inside. */
function unboxed(schema: unknown): unknown {
  const properties = propertiesOf(resolve(schema, schema))
  const [name, inner] = properties[0] ?? []
  return properties.length === 1 && (name === 'result' || name === 'content') ? inner : schema
}
