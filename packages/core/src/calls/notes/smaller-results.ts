// Names the parameters of a tool that make its result smaller, for the error about a result that is too large. Pure.
import { nameWords } from '../../util/text/python-name.ts'
import { firstOf } from '../../util/text/count.ts'
import { BridgeError } from '../../errors.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { checkToolCall } from '../methods/tool-call-params.ts'

const PARTS = new Set(
  (
    'head tail limit offset range page pages per size max maximum count first last top skip take start end from until ' +
    'before after since cursor lines length depth fields columns select rows number'
  ).split(' '),
)
const MAX_SHOWN = 8

/** Undefined for another error, and for a tool that has no such parameter. */
export function smallerResults(
  error: unknown,
  { method, params }: { method: string; params: unknown },
  catalog: Pick<Catalog, 'resolveServer' | 'seenTool'>,
): string | undefined {
  if (!BridgeError.isInstance(error) || error.code !== 'FRAME_TOO_LARGE' || method !== 'call_tool') return undefined
  const { server, tool: name } = checkToolCall(params)
  const known = catalog.resolveServer(server)
  const tool = known === undefined ? undefined : catalog.seenTool(known, name)
  const found = tool?.signature.parameters.filter(({ trueName }) => nameWords(trueName).some((word) => PARTS.has(word)))
  if (!tool || !found || found.length === 0) return undefined
  const names = found.map((parameter) => parameter.name)
  return `Parameters of mcp_${tool.serverAlias}.${tool.alias} that may make it smaller: ${firstOf(names, MAX_SHOWN)}.`
}
