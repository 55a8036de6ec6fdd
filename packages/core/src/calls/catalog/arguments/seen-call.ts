// A call found in source code, checked before the cell runs: as a made call (bind.ts), with unknown values allowed.
import { BridgeError } from '../../../errors.ts'
import { bindArguments } from './bind.ts'
import { promptTexts, type CatalogOffering } from '../model/catalog-offering.ts'
import type { CatalogTool } from '../model/catalog-tool.ts'
import { splitPrompt } from '../model/server-methods.ts'

/** A call found in source code. An argument that is not a literal is UNKNOWN. */
export interface SeenCall {
  tool: string
  args: readonly unknown[]
  kwargs: Readonly<Record<string, unknown>>
  /** Has `*args` or `**kwargs`. */
  isPartial: boolean
  /** See `BindOptions`. */
  exact: boolean
}

/** Returns PROXY_ARGUMENTS_INVALID when the arguments are certainly wrong. */
export function checkArguments(
  tool: CatalogTool,
  { args, kwargs, isPartial, exact }: SeenCall,
  server: { prompt: (name: string) => CatalogOffering | undefined },
): BridgeError | undefined {
  const given = exact ? kwargs : withoutRaw(tool, kwargs)
  try {
    if (tool.method !== 'get_prompt') {
      bindArguments(tool, args, given, { isPartial, exact })
      return undefined
    }
    const { own, prompt: promptArguments } = splitPrompt(args, given)
    bindArguments(tool, args, own, { isPartial, exact })
    const name = args[0] ?? own['name']
    const prompt = typeof name === 'string' ? server.prompt(name) : undefined
    if (prompt !== undefined) bindArguments(prompt, [], promptTexts(promptArguments), { isPartial, exact })
    return undefined
  } catch (error) {
    if (BridgeError.isInstance(error)) return error
    throw error
  }
}

/** `raw=True` belongs to the bridge, unless the tool has a parameter of that name. */
export function withoutRaw(tool: CatalogTool, kwargs: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { raw, ...rest } = kwargs
  return raw === undefined || tool.signature.parameters.some(({ name }) => name === 'raw') ? { ...kwargs } : rest
}
