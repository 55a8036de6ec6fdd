// `console`: writes one line per call to the cell's streams.
import { host } from './host.ts'
import { inspect } from './inspect.ts'

const OPTIONS = { depth: 6, breakLength: 120 }
const started = new Map<string, number>()
const counted = new Map<string, number>()
let indent = ''

const to =
  (stream: 'stdout' | 'stderr') =>
  (...values: unknown[]): void => {
    const text = format(values)
    host().print(stream, `${indent}${indent ? text.replaceAll('\n', `\n${indent}`) : text}\n`)
  }
const out = to('stdout')
const err = to('stderr')

export const console = {
  log: out,
  info: out,
  debug: out,
  warn: err,
  error: err,
  trace: err,
  dir: (value: unknown, options: object = {}) => out(inspect(value, { ...OPTIONS, ...options })),
  assert: (holds: unknown, ...values: unknown[]) => void (holds || err('Assertion failed', ...values)),
  table: (value: unknown) => out(Array.isArray(value) ? value.map((row) => inspect(row, OPTIONS)).join('\n') : value),
  count: (label = 'default') => {
    counted.set(label, (counted.get(label) ?? 0) + 1)
    out(`${label}: ${counted.get(label)}`)
  },
  time: (label = 'default') => void started.set(label, Date.now()),
  timeEnd: (label = 'default') => out(`${label}: ${Date.now() - (started.get(label) ?? Date.now())}ms`),
  group: (...values: unknown[]) => {
    if (values.length > 0) out(...values)
    indent += '  '
  },
  groupEnd: () => void (indent = indent.slice(2)),
}

function format(values: unknown[]): string {
  const [first, ...rest] = values
  let shown = values
  let text = ''
  if (typeof first === 'string' && rest.length > 0 && /%[sdifjoOc%]/.test(first)) {
    text = first.replace(/%([sdifjoOc%])/g, (whole, kind: string) => {
      if (kind === '%') return '%'
      if (rest.length === 0) return whole
      const value = rest.shift()
      if (kind === 'c') return ''
      if (kind === 'j') return JSON.stringify(value)
      if (kind === 'd') return String(Number(value))
      if (kind === 'i') return String(Math.trunc(Number(value)))
      if (kind === 'f') return String(Number.parseFloat(String(value)))
      return kind === 's' && (typeof value !== 'object' || value === null) ? String(value) : inspect(value, OPTIONS)
    })
    shown = rest
  }
  const parts = shown.map((one) => (typeof one === 'string' ? one : inspect(one, OPTIONS)))
  return shown === rest ? [text, ...parts].join(' ') : parts.join(' ')
}
