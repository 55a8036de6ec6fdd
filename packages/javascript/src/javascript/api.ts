// The API of JavaScript cells: a variable for each server, `tools`, `runtime` and `display`. A server object accepts
// any tool name; the bridge decides whether a tool exists and what arguments it takes.
import util from 'node:util'
import { MCPError } from './errors.ts'
import type { Link } from './link.ts'
import { Media } from './media.ts'
import { toDocs } from './tool-docs.ts'

type Call = (...args: unknown[]) => Promise<unknown>

export interface VisibleServer {
  alias: string
  name: string
}

/** Properties that the language itself reads from any object; never tool names. */
const OF_LANGUAGE = new Set('then toJSON constructor prototype toString valueOf inspect $$typeof'.split(' '))

export class Api {
  readonly #link: Link
  /** The variables that this API created, with their values. */
  readonly #made = new Map<string, unknown>()
  readonly #own: Record<string, unknown>
  readonly #functions: Record<string, Call> = {}
  aliases: ReadonlySet<string> = new Set()

  constructor(link: Link, display: (value: unknown) => void) {
    this.#link = link
    this.#addOwnFunctions()
    const runtime = this.#functions
    const tools = {
      search: runtime['searchToolDocs'],
      list: runtime['listTools'],
      describe: (server: unknown, tool: unknown) =>
        runtime['queryToolDocs']!(server, { tools: [tool], detail: 'full' }),
      call: runtime['callTool'],
    }
    const workflows = this.#saved('workflows')
    this.#own = { runtime, tools, workflows, user_tools: this.#saved('user_tools'), display, MCPError }
    Object.assign(globalThis, this.#own)
  }

  /**
   * Create variables for these servers and remove the earlier ones. A short name in use keeps its value; `mcp_<alias>`
   * is always set.
   */
  setServers(servers: readonly VisibleServer[]): void {
    const scope = globalThis as Record<string, unknown>
    for (const [name, value] of this.#made) if (scope[name] === value) delete scope[name]
    this.#made.clear()
    const byName: Record<string, unknown> = Object.create(null) as Record<string, unknown>
    for (const { alias, name } of servers) {
      const proxy = this.#server(alias, name)
      byName[name] = byName[alias] = proxy
      this.#make(`mcp_${alias}`, proxy)
      if (!(alias in globalThis)) this.#make(alias, proxy)
    }
    this.#make('mcp_servers', byName)
    this.aliases = new Set(servers.map(({ alias }) => alias))
  }

  /** Lets cells call these functions of Python's `runtime`. Those that would save a Python function say so. */
  setFunctions(names: readonly string[]): void {
    for (const name of names)
      if (!(name in this.#functions)) this.#add(name, async (...args: unknown[]) => this.#ask(name, args))
  }

  /** The Python name works, too, but is not enumerable. */
  #add(name: string, call: Call): void {
    const camel = name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    this.#functions[camel] = call
    if (camel !== name) Object.defineProperty(this.#functions, name, { value: call })
  }

  #ask(name: string, args: unknown[]): Promise<unknown> {
    const data = args.map((one) =>
      ArrayBuffer.isView(one) ? Buffer.from(one.buffer, one.byteOffset, one.byteLength).toString('base64') : one,
    )
    const binary = args.flatMap((one, at) => (ArrayBuffer.isView(one) ? [at] : []))
    return this.#link.ask({ type: 'runtime', name, args: data, binary })
  }

  /**
   * True if a global name still has the value set here, or is unset. An earlier cell may have assigned another value.
   */
  isOurs = (name: string): boolean => {
    const value = this.#made.get(name) ?? this.#own[name]
    return value === undefined ? !(name in globalThis) : (globalThis as Record<string, unknown>)[name] === value
  }

  #make(name: string, value: unknown): void {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })
    this.#made.set(name, value)
  }

  #server(alias: string, name: string): object {
    const known = new Map<string, unknown>()
    return new Proxy(Object.create(null) as object, {
      get: (_, key) => {
        if (key === util.inspect.custom)
          return () => `[server ${name}: await tools.list(${JSON.stringify(name)}) lists its tools]`
        if (key === Symbol.toStringTag) return 'Server'
        if (typeof key === 'symbol' || OF_LANGUAGE.has(key)) return undefined
        if (!known.has(key)) known.set(key, this.#tool(alias, key))
        return known.get(key)
      },
      has: (_, key) => typeof key === 'string' && !OF_LANGUAGE.has(key),
    })
  }

  /** Saved functions. They are Python and run in the Python kernel. */
  #saved(owner: string): object {
    return new Proxy(Object.create(null) as object, {
      get: (_, name) => {
        if (name === util.inspect.custom) return () => `[${owner}: await ${owner}.name({ … }) calls one]`
        if (typeof name === 'symbol' || OF_LANGUAGE.has(name)) return undefined
        return async (...given: unknown[]) => {
          const [args, kwargs] = given.length === 1 && isPlain(given[0]) ? [[], given[0]] : [given, {}]
          return this.#link.ask({ type: 'function', name, args, kwargs })
        }
      },
    })
  }

  #tool(server: string, tool: string): Call {
    const call = (raw: boolean, given: unknown[]) => {
      const isNamed = given.length === 1 && isPlain(given[0])
      const [args, kwargs] = isNamed ? [[], given[0]] : [given, {}]
      return this.#link.ask({ type: 'call', server, tool, args, kwargs, raw })
    }
    const named: Call = (...given) => call(false, given)
    Object.defineProperty(named, 'name', { value: `${server}.${tool}` })
    return Object.assign(named, { raw: (...given: unknown[]) => call(true, given) })
  }

  /** Functions whose arguments or results are not those of Python's. */
  #addOwnFunctions(): void {
    this.#add('update_memory', async (key, value, initial = null) => {
      if (typeof value !== 'function') {
        await this.#ask('save_memory', [key, value])
        return value
      }
      for (;;) {
        const { value: old, revision } = (await this.#link.ask({ type: 'memory', key, initial })) as any
        const next: unknown = await value(old)
        if (await this.#link.ask({ type: 'memory', key, value: next, revision })) return next
      }
    })
    this.#add('again', async (call) => this.#link.again(call))
    this.#add('call_tool', (server, tool, values = {}, options = {}) => {
      const { raw = false } = options as { raw?: boolean }
      if (isPlain(values))
        return this.#link.ask({ type: 'call', server, tool, args: [], kwargs: values, raw, exact: true })
      const how = 'callTool takes the arguments as an object: callTool("server", "tool", { name: value })'
      return Promise.reject(new MCPError(how))
    })
    this.#add('search_tool_docs', async (...given) => {
      const options: Record<string, unknown> = isPlain(given.at(-1)) ? (given.pop() as any) : {}
      const found = await this.#ask('search_tool_docs', [...given, { ...options, detail: 'full' }])
      const isFull = options['detail'] === 'full'
      if (Array.isArray(found)) return toDocs(found, isFull)
      return Object.fromEntries(Object.entries(found as object).map(([key, docs]) => [key, toDocs(docs, isFull)]))
    })
    const queryToolDocs: Call = async (server, options = {}) => {
      const { tools, detail } = (typeof options === 'string' ? { tools: [options] } : options) as any
      const found = await this.#ask('query_tool_docs', [server, { ...(tools && { tools }), detail: 'full' }])
      return toDocs(found as object[], detail === 'full', !tools)
    }
    this.#add('query_tool_docs', queryToolDocs)
    this.#add('list_tools', (server) => queryToolDocs(server))
  }
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || value instanceof Media) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
