// Shortens an event for pages: large texts are cut, values are text, what no page shows is left out. Pure.
import type { BridgeEvent, CallFlow } from '@sandbridge/core/observe/events'
import { shownOf } from '@sandbridge/core/observe/runs'
import { shortened } from '@sandbridge/core/util/text'

const SHOWN = /^(session|cell|call|question)\.|^(sign-in|server\.state|config\.changed)$/
const OUTPUT_CHARS = 64 * 1024
const TEXT_CHARS = 4_000
const FLOW_NAMES = 50

type Bundle = Readonly<Record<string, unknown>>

/** How each field of an event is shortened, by its name. */
const SHORT: Record<string, (value: never) => unknown> = {
  code: (code: string) => shortened(code, 100_000),
  message: (text: string) => shortened(text, TEXT_CHARS),
  name: (text: string) => shortened(text, 500),
  rule: (text: string) => shortened(text, 500),
  args: jsonOf,
  result: resultText,
  flow: shownFlow,
  data: bundleOf,
  value: bundleOf,
  raised: ({ name, message }: { name: string; message: string }) => ({ name, message: shortened(message, TEXT_CHARS) }),
  error: ({ code, message }: { code: string; message: string }) => ({ code, message: shortened(message, TEXT_CHARS) }),
  // Nothing on a page shows these.
  calls: () => undefined,
  servers: () => undefined,
  trace: () => undefined,
  isNamed: () => undefined,
}

/** Undefined for events that no page shows. */
export function pageEvent(event: BridgeEvent): BridgeEvent | undefined {
  if (!SHOWN.test(event.type)) return undefined
  const fields = Object.entries(event).map(([name, value]: [string, unknown]) => {
    const isShort = value === undefined || !(name in SHORT)
    return [name, isShort ? value : SHORT[name]!(value as never)]
  })
  const short = Object.fromEntries(fields) as BridgeEvent
  if (short.type !== 'cell.output' || short.text.length <= OUTPUT_CHARS) return short
  return { ...short, text: short.text.slice(0, OUTPUT_CHARS), dropped: short.text.length - OUTPUT_CHARS }
}

/** Undefined when it says nothing. The code of the cell chose the names of arguments. */
export function shownFlow({ from, seen }: CallFlow): CallFlow | undefined {
  if (seen.length === 0 && Object.keys(from).length === 0) return undefined
  const names = (all: readonly string[]): string[] => all.slice(0, FLOW_NAMES).map((name) => shortened(name, 200))
  const shown = Object.entries(from).slice(0, FLOW_NAMES)
  return { from: Object.fromEntries(shown.map(([name, all]) => [shortened(name, 200), names(all)])), seen: names(seen) }
}

function bundleOf(bundle: Bundle): Bundle {
  const { text, image } = shownOf(bundle)
  return { ...(text !== undefined && { 'text/plain': text }), ...(image && { [image.type]: image.data }) }
}

/** The text of a tool's result, otherwise its JSON. */
function resultText(result: unknown): string {
  const { content } = (result ?? {}) as { content?: unknown }
  const texts = Array.isArray(content) ? content.flatMap((block: { text?: unknown }) => block?.text ?? []) : []
  const text = texts.filter((one) => typeof one === 'string').join('\n')
  return text === '' ? jsonOf(result) : shortened(text, TEXT_CHARS)
}

function jsonOf(value: unknown): string {
  return shortened(JSON.stringify(value) ?? '', TEXT_CHARS)
}
