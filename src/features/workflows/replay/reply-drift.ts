// Checks whether a workflow's recorded replies still match its tools' output schemas. Calls no tool.
import type { Catalog } from '../../../calls/catalog/catalog.ts'
import { violation } from '../../../calls/catalog/signature/violation.ts'
import { BridgeError } from '../../../errors.ts'
import { isRecord } from '../../../util/json/json.ts'
import type { Fixture } from './fixture.ts'

/** A sentence for each tool whose recorded replies no longer match its output schema. */
export async function outdatedReplies({ calls }: Fixture, catalog: Pick<Catalog, 'findTool'>): Promise<string[]> {
  const told = new Map<string, string>()
  for (const { server, tool, result } of calls) {
    const name = `${server}.${tool}`
    if (told.has(name) || !isRecord(result) || result['isError'] === true) continue
    const schema = await outputSchemaOf(server, tool, catalog)
    if (schema === undefined) continue
    const value = result['structuredContent']
    const wrong = value === undefined ? 'it has no structured content' : violation(value, schema, schema, 'result')
    if (wrong !== undefined) told.set(name, `A recorded reply of ${name} does not fit what it returns today: ${wrong}.`)
  }
  return [...told.values()]
}

async function outputSchemaOf(server: string, tool: string, catalog: Pick<Catalog, 'findTool'>): Promise<unknown> {
  try {
    return (await catalog.findTool(server, tool)).definition.outputSchema
  } catch (error) {
    // A missing tool is reported elsewhere.
    if (BridgeError.isInstance(error)) return undefined
    throw error
  }
}
