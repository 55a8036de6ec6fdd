// Runs a session's JavaScript cells in the embedded sandbox: the body of a function that QuickJS calls with `host`.
import { Buffer } from 'buffer/'
import { Api } from '../api.ts'
import { Cells } from '../cells.ts'
import { Sources } from '../failure.ts'
import { Link } from '../link.ts'
import { bundle, mediaBeside } from '../show.ts'
import type { Scripts } from '../transform.ts'
import { console } from './console.ts'
import { type Host, setHost } from './host.ts'
import { builtIn, moduleSource } from './modules.ts'
import { endTimers, fireTimers, watchTimers } from './timers.ts'
import structuredClone from '@ungap/structured-clone'
import { TextDecoder, TextEncoder } from './utf8.ts'

declare const host: Host
setHost(host)

const sources = new Sources()
const link = new Link((line) => host.send(line))
const turns: (() => void)[] = []
let types: ReturnType<Host['types']> | undefined
const engineError = Error as unknown as { prepareStackTrace: unknown; stackTraceLimit: number }
engineError.stackTraceLimit = 30
engineError.prepareStackTrace = stackLines
const scope = globalThis as Record<string, unknown>
Object.assign(scope, { Buffer, console })
addGlobals()
watchTimers((afterMs) => link.send({ type: 'timer', afterMs }))
const api = new Api(link, (value) => {
  const data = bundle(value, false)
  if (data) link.send({ type: 'display', data, media: mediaBeside(value) })
})
const cells = new Cells(link, api, sources, {
  run: ({ functions, body }: Scripts, file) => {
    if (functions !== undefined) host.evaluate(functions, file)
    // The body starts one line above the cell.
    return host.evaluate(body.replace('\n', ''), file)
  },
  withoutTypes: (source) => (types ??= host.types()).withoutTypes(source),
  enter: () => {},
  turn: () =>
    new Promise((resolve) => {
      turns.push(resolve)
      host.turn()
    }),
  endTimers,
})
Object.assign(scope['process'] as object, { exit: (code?: unknown) => cells.exit(Number(code ?? 0)) })
scope['require'] = builtIn

host.connect(
  receive,
  (promise, reason, isHandled) => {
    if (isHandled) cells.handled(promise)
    else cells.rejected(reason, promise)
  },
  moduleSource,
)
link.send({ type: 'ready' })

function receive(line: string): void {
  const message = link.receive(line) as { type: string } | undefined
  if (message?.type === 'run') void cells.start(message as never)
  else if (message?.type === 'interrupt') cells.interrupt()
  else if (message?.type === 'turn') for (const resume of turns.splice(0)) resume()
  else if (message?.type === 'tick') fireTimers((error) => cells.fail(error))
}

function addGlobals(): void {
  Object.assign(globalThis, {
    TextDecoder,
    TextEncoder,
    structuredClone,
    fetch: async () => {
      throw new TypeError('fetch failed')
    },
    process: {
      argv: ['quickjs'],
      env: {},
      platform: 'linux',
      versions: {},
      cwd: () => JSON.parse(String(host.file('folder'))) as string,
      nextTick: (callback: (...args: unknown[]) => void, ...args: unknown[]) => queueMicrotask(() => callback(...args)),
      stdout: { isTTY: false, write: (text: unknown) => host.print('stdout', String(text)) },
      stderr: { isTTY: false, write: (text: unknown) => host.print('stderr', String(text)) },
    },
  })
}

interface Site {
  getFileName: () => string | null
  getFunctionName: () => string | null
  getLineNumber: () => number
  getColumnNumber: () => number
}

function stackLines(error: unknown, sites: Site[]): string {
  const lines = sites.flatMap((site) => {
    const file = site.getFileName() ?? ''
    const name = site.getFunctionName() ?? ''
    if (!/^Cell \d+$/.test(file) || name === '<eval>') return []
    const place = `${file}:${site.getLineNumber()}:${site.getColumnNumber()}`
    return [name === '' || name === '<anonymous>' ? `    at ${place}` : `    at ${name} (${place})`]
  })
  return [head(error), ...lines].join('\n')
}

function head(error: unknown): string {
  try {
    return Error.prototype.toString.call(error)
  } catch {
    return 'Error'
  }
}
