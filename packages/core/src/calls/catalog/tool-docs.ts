// The documentation of tools for a cell: with learned types, what the rules say, and calls that have worked.
import type { ToolAccess } from '../../config/rules/policy.ts'
import type { Learned } from '../learned-part.ts'
import { offeringDoc, toolDoc, type ToolDoc } from './arguments/tool-doc.ts'
import { toolLine, type Detail } from './arguments/tool-line.ts'
import { isOffering, lookUp } from './look-up.ts'
import { withoutNames } from './model/shape.ts'
import type { CatalogTool } from './model/catalog-tool.ts'
import type { ServerRecord } from './server-record.ts'

export interface DocOptions {
  detail?: Detail
  learned?: Learned | undefined
  /** Whose results types are from, and who may read their fields; no user: the owner. Missing: no names of fields. */
  resultsOf?: { user: string | undefined } | undefined
}

export class ToolDocs {
  readonly #records: ReadonlyMap<string, ServerRecord>
  readonly #accessOf: (tool: CatalogTool) => ToolAccess | undefined

  /** @param accessOf what the rules say about a tool */
  constructor(records: ReadonlyMap<string, ServerRecord>, accessOf?: (tool: CatalogTool) => ToolAccess) {
    this.#records = records
    // Rules are about tools of servers only.
    this.#accessOf = (tool) => (records.has(tool.server) ? accessOf?.(tool) : undefined)
  }

  /** Whether no rule denies the tool, which would hide it. */
  isShown(tool: CatalogTool): boolean {
    return this.#accessOf(tool) !== 'denied'
  }

  line(tool: CatalogTool, { resultsOf }: Pick<DocOptions, 'resultsOf'> = {}): string {
    return toolLine(tool, 'summary', ...this.#known(tool, resultsOf))
  }

  /** @param weak what the answer of a search that found no fitting tool begins with */
  doc(tool: CatalogTool, options: DocOptions, weak?: string): ToolDoc {
    return { ...this.#docOf(tool, options), ...(weak !== undefined && { weak }) }
  }

  #docOf(tool: CatalogTool, { detail = 'summary', learned, resultsOf }: DocOptions): ToolDoc {
    const record = this.#records.get(tool.server)
    if (isOffering(tool)) {
      const isTaken = record && lookUp(record, tool.alias)?.method === undefined
      return offeringDoc(tool, detail, isTaken ? `_${tool.alias}` : tool.alias)
    }
    const worked = record && learned?.workedCall(record.key, tool)
    return { ...toolDoc(tool, detail, ...this.#known(tool, resultsOf)), ...(worked && { worked }) }
  }

  /** The type learned from its results, and whether the user is asked about each call. */
  #known(tool: CatalogTool, resultsOf: DocOptions['resultsOf']): [observed: unknown, asks: boolean] {
    const shape = this.#records.get(tool.server)?.learnedShape(tool.name, resultsOf?.user)
    return [shape && !resultsOf ? withoutNames(shape) : shape, this.#accessOf(tool) === 'asks']
  }
}
