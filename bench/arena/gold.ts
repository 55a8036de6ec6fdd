// A player that knows the solution: it searches for the tools that it needs, if it has to, and makes the calls of a
// perfect model. What it costs is the least that the way costs.
import type { Call, Player, Turn, View } from './play.ts'
import { foundAtOnce, listedName, SEARCH_TOOL, type Way } from './surface.ts'
import type { Exchange, GoldCall } from './task.ts'
import { CALL_TOOL, SEARCH_TOOLS } from '../../packages/direct/src/search-tools.ts'

/** How the calls are made through Sandbridge. */
export type Style = 'calls' | 'one cell' | 'a cell a step'

export const stylesOf = (way: Way): Style[] => (way === 'sandbridge' ? ['one cell', 'a cell a step'] : ['calls'])

/** A model that searched in vain this often would call by guess. */
const MOST_SEARCHES = 3

export function goldPlayer(way: Way, style: Style): Player {
  const known = new Set<string>()
  let exchange: Exchange | undefined
  let left: Call[][] = []
  let searches = 0
  return (view) => {
    if (view.exchange !== exchange) {
      exchange = view.exchange
      left = turnsOf(view, way, style)
      searches = 0
    }
    const missing = way === 'direct' ? [] : unknownTools(view, known)
    if (missing.length > 0) {
      if (searches === MOST_SEARCHES)
        return Promise.resolve({ text: `Not found: ${missing.map(({ tool }) => tool).join(', ')}`, calls: [] })
      searches += 1
      const queries = (searches === 1 && exchange.queries) || missing.map(({ tool }) => wordsOf(tool))
      return Promise.resolve({ text: '', calls: [searchCall(way, queries)] })
    }
    const calls = left.shift()
    const turn: Turn = calls === undefined ? { text: exchange.answer, calls: [] } : { text: '', calls }
    return Promise.resolve(turn)
  }
}

function turnsOf({ exchange: { steps, cell }, tools }: View, way: Way, style: Style): Call[][] {
  const [first, ...others] = steps.flat()
  if (first === undefined) return []
  const isListed = others.length === 0 && tools.some(({ name }) => name === listedName(first.server, first.tool))
  if (way !== 'sandbridge' && (way !== 'proposed' || isListed))
    return steps.map((step) =>
      step.map(({ server, tool, args }) => {
        const name = listedName(server, tool)
        return way === 'found' ? { name: CALL_TOOL.name, args: { name, arguments: args } } : { name, args }
      }),
    )
  const codes = style !== 'a cell a step' ? [cell ?? steps.flat().map(printed).join('\n')] : steps.map(stepCode)
  return codes.map((code) => [runPython(code)])
}

const runPython = (code: string): Call => ({ name: 'run_python', args: { code } })

function searchCall(way: Way, queries: string[]): Call {
  const limit = foundAtOnce(queries)
  if (way === 'search') return { name: SEARCH_TOOL.name, args: { queries } }
  if (way === 'found') return { name: SEARCH_TOOLS.name, args: { query: queries, ...(limit > 5 && { limit }) } }
  const more = limit > 5 ? `, limit=${limit}` : ''
  return runPython(`print(await runtime.search_tool_docs(${queries.map(python).join(', ')}${more}))`)
}

/** The tools of the solution that no search has found yet. */
function unknownTools({ messages, exchange, tools }: View, known: Set<string>): GoldCall[] {
  const needed = new Map(exchange.steps.flat().map((call) => [listedName(call.server, call.tool), call]))
  const listed = new Set(tools.map(({ name }) => name))
  const last = messages.at(-1)
  const said = last?.role === 'results' ? last.results.map(({ text }) => text).join('\n') : ''
  const isFound = (name: string, call: GoldCall): boolean =>
    said.includes(`${called(call)}(`) || said.includes(`{"name":"${name}"`)
  for (const [name, call] of needed) if (listed.has(name) || isFound(name, call)) known.add(name)
  return [...needed].filter(([name]) => !known.has(name)).map(([, call]) => call)
}

/** The words of a tool's name. */
const wordsOf = (tool: string): string => tool.replaceAll(/[_-]+|(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()

/** The tool as a function of Python: what is no identifier becomes one, as the bridge does it. */
const called = ({ server, tool }: GoldCall): string => `mcp_${server}.${tool.replaceAll('-', '_')}`

/** What Python does not take as the name of an argument. */
const IS_KEYWORD = /^(?:from|in|is|as|class|import|global|lambda|pass|with)$|\W/

function callCode(call: GoldCall): string {
  const args = Object.entries(call.args).map(([name, value]) =>
    IS_KEYWORD.test(name) ? `**{${python(name)}: ${python(value)}}` : `${name}=${python(value)}`,
  )
  return `${called(call)}(${args.join(', ')})`
}

const printed = (call: GoldCall): string => `print(await ${callCode(call)})`

function stepCode(step: readonly GoldCall[]): string {
  if (step.length === 1) return `await ${callCode(step[0]!)}`
  return `import asyncio\nawait asyncio.gather(${step.map((call) => `\n  ${callCode(call)},`).join('')})`
}

/** A JSON value as a literal of Python. */
export function python(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, one]) => `${python(key)}: ${python(one)}`)
      .join(', ')}}`
  return JSON.stringify(value)
}
