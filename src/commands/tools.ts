// `sandbridge tools SERVER [TOOL]`: the tools of a server as lines to call them by; one tool in full.
import type { ToolDoc } from '../catalog/tool-doc.ts'
import { BridgeError } from '../errors.ts'
import { withBridge } from './open-bridge.ts'
import { print, printJson } from './print.ts'

export async function tools(server: string, tool: string | undefined, options: { json?: boolean }): Promise<void> {
  const isServer = await withBridge(async ({ catalog }) => {
    const name = catalog.resolveServer(server)
    if (name === undefined) {
      if (SAVED_WORDS.has(server)) return false
      const names = catalog.servers().map((entry) => entry.name)
      const hint = names.length > 0 ? `There are: ${names.join(', ')}` : 'No MCP server is configured.'
      throw new BridgeError('PROXY_SERVER_UNAVAILABLE', `Server '${server}' is not available`, { hint })
    }
    const docs = await catalog.docs(name, tool === undefined ? {} : { tools: [tool], detail: 'full' })
    if (options.json) printJson(docs)
    else print(docs.map(asText).join('\n') || `Server '${name}' has no tools.`)
    return true
  })
  if (!isServer) await savedTools(server, tool, options)
}

/** What may stand in the place of a server's name, when no server has it: the same as the command `saved`. */
const SAVED_WORDS = new Set(['saved', 'export', 'import'])

async function savedTools(word: string, file: string | undefined, options: { json?: boolean }): Promise<void> {
  const { exportSaved, importSaved, listSaved, showSaved } = await import('./saved.ts')
  if (word === 'saved') return file === undefined ? listSaved(options) : showSaved(file, undefined, options)
  if (file === undefined) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `Pass a file: sandbridge tools ${word} FILE`, { hint: '' })
  }
  return word === 'export' ? exportSaved(file, []) : importSaved(file)
}

/** The line to call it by, and below it what `detail: "full"` says of the tool and of each parameter. */
function asText({ line, description, params, example }: ToolDoc): string {
  if (params === undefined) return line
  const details = params.map(
    (param) => `  ${param.name}: ${param.type}${param.description ? `  ${param.description}` : ''}`,
  )
  return [line, description, ...details, ...(example ? [`Example: ${example}`] : [])].filter(Boolean).join('\n')
}
