// `sandbridge index`: lists the tools of every server now, so that no cell has to wait for it.
import type { OpenTenant } from '@sandbridge/core/bridge'
import type { KnownServer } from '@sandbridge/core/calls/catalog'
import { shellWord } from '@sandbridge/core/config/secrets'
import { count } from '@sandbridge/core/util/text'
import { printEmpty, printJson, printSummary, printTable, visibleInline } from '@sandbridge/core/serve/cli/terminal'
import { namedServer } from '@sandbridge/shared/servers/named-server.ts'
import { noServers, shortReason, untrustedNote } from '@sandbridge/shared/servers/server-notes.ts'
import { withBridge } from '@sandbridge/shared/open-bridge.ts'
import type { Cell } from '@sandbridge/core/serve/cli/terminal'

const REDRAW_MS = 1000

interface Indexed extends KnownServer {
  seconds: number
}

/** Sets the exit code to 1 when a server could not be listed. */
export async function indexServers(given: readonly string[], options: { json?: boolean } = {}): Promise<void> {
  await withBridge(async (bridge) => {
    const { catalog } = bridge
    const all = catalog.servers().map(({ name }) => name)
    const names = given.length === 0 ? all : [...new Set(given.map((name) => namedServer(bridge, name)))]
    if (names.length === 0 && !options.json) return printEmpty([noServers(bridge), ...untrustedNote(bridge)].join('\n'))

    const finished = await indexNow(bridge, names, options)
    if (finished.some(({ problem }) => problem !== undefined)) process.exitCode = 1
    if (options.json) return printJson(finished)
    if (given.length === 0) for (const note of untrustedNote(bridge)) printSummary(note)
  })
}

/** Lists the tools of these servers, and prints a line for each and a summary. */
export async function indexNow(
  { catalog, upstreams }: Pick<OpenTenant, 'catalog' | 'upstreams'>,
  names: readonly string[],
  { json = false }: { json?: boolean } = {},
): Promise<Indexed[]> {
  const started = performance.now()
  const stateOf = (name: string) => (upstreams.of(name).state === 'installing' ? 'installing' : 'starting')
  const finished = await indexShown(catalog, names, stateOf, json)
  if (json) return finished
  if (!process.stdout.isTTY) printTable(inOrder(finished, names).map(rowOf))
  // The line of a single server says as much.
  if (names.length > 1) printSummary(summaryOf(finished, secondsSince(started)))
  return finished
}

/** On a terminal, finished servers are printed at once, and those in progress below them. */
async function indexShown(
  catalog: { index: Index },
  names: readonly string[],
  stateOf: (name: string) => string,
  isQuiet: boolean,
): Promise<Indexed[]> {
  const live = new LiveLines(isQuiet ? { write: () => {} } : process.stdout)
  const width = Math.max(...names.map((name) => name.length))
  const running = new Map<string, number>()
  const finished: Indexed[] = []
  const draw = (): void => {
    const waiting = names.length - finished.length - running.size
    const lines = [...running].map(
      ([name, since]) => `${name.padEnd(width)}  ${stateOf(name)}  ${secondsSince(since)} s`,
    )
    live.show(waiting > 0 ? [...lines, `${count(waiting, 'more server')} to start`] : lines)
  }
  const timer = setInterval(draw, REDRAW_MS)
  try {
    await catalog.index(names, {
      onStart: (name) => {
        running.set(name, performance.now())
        draw()
      },
      onEnd: (entry) => {
        const indexed = { ...entry, seconds: secondsSince(running.get(entry.name)!) }
        running.delete(entry.name)
        finished.push(indexed)
        live.clear()
        const [name, ...rest] = rowOf(indexed)
        if (process.stdout.isTTY && !isQuiet) printTable([[(name as string).padEnd(width), ...rest]])
        draw()
      },
    })
  } finally {
    clearInterval(timer)
    live.clear()
  }
  return finished
}

type Index = (
  servers: readonly string[],
  watch: { onStart: (server: string) => void; onEnd: (entry: KnownServer) => void },
) => Promise<void>

function rowOf({ name, toolCount = 0, problem, seconds }: Indexed): Cell[] {
  if (problem !== undefined) return [name, { text: `failed: ${shortReason(name, problem)}`, style: 'red' }]
  return [name, { text: `${count(toolCount, 'tool')}  ${seconds} s`, style: 'green' }]
}

function inOrder(finished: readonly Indexed[], names: readonly string[]): Indexed[] {
  return finished.toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name))
}

function summaryOf(finished: readonly Indexed[], seconds: number): string {
  const failed = finished.filter(({ problem }) => problem !== undefined)
  const tools = finished.reduce((sum, { toolCount = 0, problem }) => sum + (problem === undefined ? toolCount : 0), 0)
  const ready = `${count(finished.length - failed.length, 'server')} ready with ${count(tools, 'tool')}`
  const [first] = failed
  if (first === undefined) return `${ready}, in ${seconds} s.`
  return `${ready}, ${failed.length} failed, in ${seconds} s. Why: sandbridge servers ${shellWord(first.name)}`
}

function secondsSince(started: number): number {
  return Math.round((performance.now() - started) / 100) / 10
}

interface Terminal {
  isTTY?: boolean
  columns?: number
  rows?: number
  write(text: string): unknown
}

/** Writes nothing without a terminal that can move its cursor. */
class LiveLines {
  readonly #terminal: Terminal
  #shownCount = 0

  constructor(terminal: Terminal) {
    this.#terminal = terminal
  }

  /** Replaces the lines at the bottom. Lines that do not fit are left out. */
  show(lines: readonly string[]): void {
    if (!this.#terminal.isTTY || process.env['TERM'] === 'dumb') return
    const { columns = 80, rows = 24 } = this.#terminal
    // A line that wraps or has scrolled away could not be erased.
    const shown = lines.slice(0, Math.max(1, rows - 2)).map((line) => visibleInline(line).slice(0, columns - 1))
    this.#terminal.write(this.#taken() + shown.map((line) => `${line}\n`).join(''))
    this.#shownCount = shown.length
  }

  /** Erases the lines, so that something else can be written in their place. */
  clear(): void {
    if (this.#shownCount > 0) this.#terminal.write(this.#taken())
    this.#shownCount = 0
  }

  #taken(): string {
    return this.#shownCount === 0 ? '' : `\u001b[${this.#shownCount}A\r\u001b[J`
  }
}
