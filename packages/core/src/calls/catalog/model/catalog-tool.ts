// One tool of one server, with its Python name. The signature is computed on first use. Pure.
import type { UpstreamTool } from '../../../upstream/upstream.ts'
import { isRecord } from '../../../util/json/json.ts'
import { pythonName, pythonNames } from '../../../util/text/python-name.ts'
import { toolFingerprint } from './identity.ts'
import { signatureOf, type Signature } from '../signature/signature.ts'
import { DESCRIPTION_LIMIT, oneLine } from '../../../util/text/server-words.ts'

/** Methods of every server beside its own tools: see server-methods.ts. */
export type ServerMethod = 'resources' | 'read_resource' | 'prompts' | 'get_prompt' | 'list_tools'

export class CatalogTool {
  /** True name of its server. */
  readonly server: string
  readonly serverAlias: string
  /** True name. */
  readonly name: string
  /** Its Python name. */
  readonly alias: string
  /** As the server lists it, unchanged. */
  readonly definition: UpstreamTool
  /** Set for a method of every server, such as reading a resource, instead of a tool. */
  readonly method: ServerMethod | undefined
  #description: string | undefined
  #signature: Signature | undefined

  constructor(server: string, serverAlias: string, alias: string, definition: UpstreamTool, method?: ServerMethod) {
    this.server = server
    this.serverAlias = serverAlias
    this.name = definition.name
    this.alias = alias
    this.definition = definition
    this.method = method
  }

  /** The server's text, cleaned, on one line. */
  get description(): string {
    const { description, title, annotations } = this.definition
    this.#description ??= oneLine(description || title || annotations?.title, DESCRIPTION_LIMIT)
    return this.#description
  }

  /** As the server sends it; `{}` when missing. */
  get inputSchema(): unknown {
    return this.definition.inputSchema ?? {}
  }

  /** Tells its definition from others of the same name: see `toolFingerprint`. */
  get fingerprint(): string {
    return toolFingerprint(this.definition)
  }

  get signature(): Signature {
    this.#signature ??= signatureOf(this.inputSchema)
    return this.#signature
  }
}

/** Attributes of a server's object in Python that are not tools: they hide a tool of the same name. */
export const OWN_ATTRIBUTES = [
  '_alias',
  '_description',
  '_docs',
  '_server',
  '_tool_docs',
  '_tools',
  'TOOLS',
  'TOOL_MAP',
] as const

/** The tools of a server with their Python names, in list order. Of duplicates the first counts. */
export function catalogTools(server: string, alias: string, definitions: readonly UpstreamTool[]): CatalogTool[] {
  const byName = new Map<string, UpstreamTool>()
  for (const definition of definitions) {
    if (!isRecord(definition) || typeof definition.name !== 'string' || definition.name === '') continue
    if (!byName.has(definition.name)) byName.set(definition.name, definition)
  }
  const names = pythonNames(byName.keys(), 'tool', pythonName, new Set(OWN_ATTRIBUTES))
  return [...byName].map(([name, definition]) => new CatalogTool(server, alias, names.get(name)!, definition))
}
