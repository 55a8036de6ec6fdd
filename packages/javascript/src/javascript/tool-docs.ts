// Tool docs for JavaScript cells: objects that print as one line to paste.
import util from 'node:util'

interface ToolDoc {
  server: string
  serverAlias: string
  tool: string
  toolAlias: string
  description: string
  line: string
  params?: { name: string; type: string; required: boolean; description?: string }[]
  returns?: string
  open?: boolean
  kind?: string
  target?: string
  worked?: string
  weak?: string
}

const FULL = ['params', 'example', 'inputSchema', 'outputSchema', 'returns', 'open'] as const
const WORDS: Record<string, string> = {
  str: 'string',
  int: 'number',
  float: 'number',
  bool: 'boolean',
  None: 'null',
  Any: 'unknown',
  dict: 'object',
  list: 'unknown[]',
  bytes: 'Buffer',
}

/** More tools of one server are shown without what they take. */
const MAX_SIGNATURES = 20

class ToolDocs extends Array<ToolDoc> {
  /** Whether a search found no tool that fits: these are only the nearest. */
  get weak(): boolean {
    return this.some((doc) => doc.weak !== undefined)
  }

  [util.inspect.custom](): string {
    const note = this.find((doc) => doc.weak !== undefined)?.weak
    const lines = Array.from(this, ({ line, worked }) => line + (worked ? `\n  // worked: ${workedCall(worked)}` : ''))
    return [...(note ? [note] : []), ...lines].join('\n') || '(no tools)'
  }
}

class ServerTools extends ToolDocs {
  override [util.inspect.custom](): string {
    const [first] = this
    if (this.length <= MAX_SIGNATURES || !first) return super[util.inspect.custom]()
    const lines = Array.from(
      this,
      ({ toolAlias, line }) => toolAlias + line.slice(line.indexOf(')  // ') + 1 || line.length),
    )
    const ask = `await tools.describe(${JSON.stringify(first.server)}, ${JSON.stringify(first.toolAlias)})`
    return [...lines, `${this.length} tools. What one takes: ${ask}`].join('\n')
  }
}

/**
 * @param isFull keep all fields, not only those of the line
 * @param areAll of one server
 */
export function toDocs(found: object[], isFull: boolean, areAll = false): ToolDocs {
  return (areAll ? ServerTools : ToolDocs).from(found as ToolDoc[], (doc) => {
    const shown: Record<string, unknown> = { ...doc, line: lineOf(doc) }
    if (!isFull) for (const field of FULL) delete shown[field]
    return shown as unknown as ToolDoc
  }) as ToolDocs
}

function lineOf(doc: ToolDoc): string {
  const { serverAlias, toolAlias, params, open, description, kind, target, line } = doc
  if (serverAlias === 'user_tools') return savedLine(line)
  if (!serverAlias || !toolAlias) return line
  const about = description.split(/(?<=[.!?])\s|\n/, 1)[0]!.slice(0, 100)
  const comment = about ? `  // ${about}` : ''
  if (kind) return `await ${serverAlias}.${toolAlias}(${JSON.stringify(target)})${comment}`
  const fields = (params ?? []).map(({ name, type, required }) => `${key(name)}${required ? '' : '?'}: ${typeOf(type)}`)
  if (open) fields.push('...more')
  const given = fields.length > 0 ? `{ ${fields.join(', ')} }` : ''
  return `await ${serverAlias}.${toolAlias}(${given})${comment}`
}

/** Converts `from user_tools import f; f(a: int, b: str='x')` and `await workflows.f(…)` to JavaScript calls. */
function savedLine(line: string): string {
  const call = line.replace(/^from user_tools import \w+; (?:await )?/, 'await user_tools.')
  return call.replace(/\((.*)\)(?: -> .*?)?  # /, (_, given: string) => {
    const fields = given.split(/, (?=\w+(?:[:=,]|$))/).filter(Boolean)
    const shown = fields.map((field) => {
      const [, name = field, type = 'unknown', preset] = /^(\w+)(?:: ([^=]*?))?( *=.*)?$/.exec(field) ?? []
      return `${name}${preset ? '?' : ''}: ${typeOf(type)}`
    })
    return `(${shown.length > 0 ? `{ ${shown.join(', ')} }` : ''})  // `
  })
}

/** Converts `f(a=str, b=list[str])` to a JavaScript call. */
function workedCall(call: string): string {
  const given = call.replaceAll(/([(,] ?)(\w+)=/g, '$1$2: ')
  return typeOf(given.replace(/\((.+)\)$/, '({ $1 })'))
}

function key(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}

/** Converts a Python type to TypeScript: `list[str] | None` becomes `string[] | null`. */
function typeOf(python: string): string {
  const literal = python.replaceAll(/Literal\[([^\][]*)\]/g, (_, options: string) => options.split(', ').join(' | '))
  const lists = literal.replaceAll(/\blist\[(\w+)\]/g, (_, of: string) => `${WORDS[of] ?? of}[]`)
  return lists
    .replaceAll(/\blist\[/g, 'Array<')
    .replaceAll(/\bdict\[/g, 'Record<')
    .replaceAll(/(?<!\[)\]/g, '>')
    .replaceAll(/\b(str|int|float|bool|None|Any|dict|list|bytes)\b(?![\w'"])/g, (word) => WORDS[word]!)
}
