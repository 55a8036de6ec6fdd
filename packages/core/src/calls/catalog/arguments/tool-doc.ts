// The documentation of a tool: its line, and the mapping around it.
import type { CatalogOffering, OfferingKind } from '../model/catalog-offering.ts'
import type { CatalogTool } from '../model/catalog-tool.ts'
import { FULL, SHORT } from '../signature/signature.ts'
import { flattened } from '../signature/json-schema.ts'
import { pythonLiteral } from '../signature/python-literal.ts'
import { typeText } from '../signature/schema-type.ts'
import { paragraphs } from '../../../util/text/server-words.ts'
import { exampleCall } from './example-call.ts'
import { MAX_VISITS, parameterDetails } from './parameter-details.ts'
import { type Detail, returnType, toolLine } from './tool-line.ts'

/** One parameter, as shown with `detail: "full"`. */
interface ParameterDoc {
  name: string
  type: string
  required: boolean
  default?: string
  description?: string
  /** Lines about its limits, and about the fields inside it. */
  details?: string[]
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
  /** The arguments of the user's last call that worked after an error: `create_issue(owner=str)`. */
  worked?: string
  /** In each doc of a search that found no fitting tool: what its answer begins with. */
  weak?: string
}

const WHOLE_DEFAULT = 2_000
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
  const { root } = tool.signature
  const budget = { left: MAX_VISITS }
  doc.params = tool.signature.parameters.map((parameter) => {
    const { name, schema, required, description } = parameter
    const whole = pythonLiteral(flattened(schema, root)['default'], WHOLE_DEFAULT)
    const details = parameterDetails(schema, root, parameter.trueName, budget)
    return {
      name,
      type: typeText(schema, root, FULL.optionalType),
      required,
      ...(parameter.default === undefined ? {} : { default: whole ?? parameter.default }),
      ...(description === '' ? {} : { description }),
      ...(details.length === 0 ? {} : { details }),
    }
  })
  const returns = returnType(tool, detail, observed).text
  if (returns !== undefined) doc.returns = returns
  if (tool.signature.open) doc.open = true
  doc.inputSchema = tool.inputSchema
  if (definition.outputSchema !== undefined) doc.outputSchema = definition.outputSchema
  return doc
}

/** @param method what reaches it: `read_resource` or `get_prompt`, with `_` when a tool has that name */
export function offeringDoc(offering: CatalogOffering, detail: Detail, method: string): ToolDoc {
  const { server, serverAlias, description, kind, target } = offering
  const line = offering.line(detail === 'full' ? FULL : SHORT, method)
  return { server, serverAlias, tool: method, toolAlias: method, description, line, kind, target }
}
