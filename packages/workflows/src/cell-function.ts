// Cells as one function, which the kernel makes of their code and does not run. Pure.
import * as z from 'zod'
import type { CellResult } from '@sandbridge/core/cell'
import { parseJson } from '@sandbridge/core/util/json/json.ts'

const made = z.object({
  source: z.string(),
  function: z.string(),
  /** Those of its call in the cells; null if it was not called. */
  arguments: z.record(z.string(), z.unknown()).nullable(),
  /** Values that could be parameters, such as `week = 47`. */
  candidates: z.array(z.string()),
})

/**
 * The cell that makes the function; {@link functionIn} reads its result.
 * @param name the function's, unless the cells define one
 * @param parameters values in the code that become parameters
 */
export function functionCode(cells: readonly string[], name: string, parameters: readonly string[] = []): string {
  return [
    'import json as _json',
    'from sandbridge_kernel.source.cell_function import from_cells as _from_cells',
    `print(_json.dumps(_from_cells(*${loadedJson([cells, name, parameters])})))`,
  ].join('\n')
}

export function functionIn({ stdout }: Pick<CellResult, 'stdout'>): z.infer<typeof made> {
  return made.parse(parseJson(stdout))
}

/**
 * A Python expression for a value, after `json` was imported as `_json`. The value is inside a string literal, so none
 * of it is code.
 */
export function loadedJson(value: unknown): string {
  return loadedText(JSON.stringify(value))
}

export function loadedText(json: string): string {
  const text = JSON.stringify(json).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
  return `_json.loads(${text})`
}
