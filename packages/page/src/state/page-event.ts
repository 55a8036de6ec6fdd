// Converts an event for pages: limited in size, as text, and without fields that no page shows. Pure.
import type { BridgeEvent, CallFlow, Stamp } from '@sandbridge/core/observe/events/event.ts'
import type { MimeBundle } from '@sandbridge/core/cell/protocol/frames.ts'

/** A value in a form that the page can show. */
export interface Shown {
  text?: string | undefined
  /** An image in base64, of a type that browsers can draw and that contains no script. */
  image?: { type: string; data: string } | undefined
}

export interface SignInEnd {
  server: string
  /** Why it failed; missing when it did not. */
  problem?: string
}

type Of<T extends string, Fields> = { type: T; id: string } & Fields & Pick<Stamp, 'seq' | 'at' | 'mono'>

export type PageEvent =
  /** A session that began before the page's bridge was watching reports its number of cells. */
  | Of<'session.started', { client?: string | undefined; cellCount?: number }>
  | Of<'session.ended', object>
  | Of<
      'cell.started',
      {
        session: string
        client: string
        number: number
        code: string
        timeoutMs: number
        provider: string
        /** The session's count already includes it. */
        isCounted?: true
      }
    >
  | Of<'cell.output', { stream: 'stdout' | 'stderr'; text: string; dropped: number }>
  | Of<'cell.display', { shown: Shown }>
  | Of<
      'cell.ended',
      {
        status: string
        durationMs: number
        value: Shown | undefined
        raised: { name: string; message: string } | undefined
        stateLost: boolean
      }
    >
  | Of<
      'call.started',
      { parent: string; kind: string; server: string; name: string; args: string; flow?: CallFlow | undefined }
    >
  | Of<'call.progress', { parent: string; progress: number; message: string | undefined }>
  /** A rule or the user denied it. */
  | Of<
      'call.denied',
      { parent: string; kind: string; server: string; name: string; rule: string; flow?: CallFlow | undefined }
    >
  | Of<
      'call.ended',
      { parent: string; outcome: string; durationMs: number; result: string | undefined; error: string | undefined }
    >
  | Of<'question.asked', { parent: string | undefined; server: string | undefined; message: string }>
  | Of<'question.answered', object>
  /** With how a sign-in has ended, if one has. */
  | Of<'servers.changed', { signIn?: SignInEnd }>

const CODE_CHARS = 100_000
const OUTPUT_CHARS = 64 * 1024
const VALUE_CHARS = 32 * 1024
const CALL_CHARS = 4_000
const FLOW_NAMES = 50
const IMAGE_CHARS = 3 * 1024 * 1024
const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** Undefined for events that no page shows. */
export function pageEvent(event: BridgeEvent): PageEvent | undefined {
  const { id, seq, at, mono } = event
  const stamp = { id, seq, at, mono }
  switch (event.type) {
    case 'session.started':
    case 'session.ended':
      return { type: event.type, ...stamp }
    case 'cell.started': {
      const { session = '', client = '', number, code, timeoutMs, provider } = event
      return { type: event.type, ...stamp, session, client, number, code: cut(code, CODE_CHARS), timeoutMs, provider }
    }
    case 'cell.output': {
      const text = event.text.slice(0, OUTPUT_CHARS)
      return { type: event.type, ...stamp, stream: event.stream, text, dropped: event.text.length - text.length }
    }
    case 'cell.display':
      return { type: event.type, ...stamp, shown: shownOf(event.data) }
    case 'cell.ended': {
      const { status, durationMs, value, raised, stateLost } = event
      const error = raised && { name: raised.name, message: cut(raised.message, CALL_CHARS) }
      return {
        type: event.type,
        ...stamp,
        status,
        durationMs,
        value: value && shownOf(value),
        raised: error,
        stateLost,
      }
    }
    case 'call.decided': {
      const { parent = '', kind, server, name, decision, rule, flow } = event
      if (decision !== 'deny') return undefined
      const why = rule === undefined ? '' : `deny ${cut(rule, 500)}`
      const about = { kind, server, name: cut(name, 500), rule: why, flow: shownFlow(flow) }
      return { type: 'call.denied', ...stamp, parent, ...about }
    }
    case 'call.started': {
      const { parent = '', kind, server, name, args, flow } = event
      const about = { kind, server, name: cut(name, 500), args: jsonOf(args), flow: shownFlow(flow) }
      return { type: event.type, ...stamp, parent, ...about }
    }
    case 'call.progress': {
      const { parent = '', done, total, message } = event
      const progress = total !== undefined && total > 0 ? Math.min(1, Math.max(0, done / total)) : -1
      return { type: event.type, ...stamp, parent, progress, message: message && cut(message, 200) }
    }
    case 'call.ended': {
      const { parent = '', outcome, durationMs, result, error } = event
      const text = result === undefined ? undefined : resultText(result)
      return { type: event.type, ...stamp, parent, outcome, durationMs, result: text, error: error?.message }
    }
    case 'question.asked': {
      const { parent, server, message } = event
      return { type: event.type, ...stamp, parent, server, message: cut(message, CALL_CHARS) }
    }
    case 'question.answered':
      return { type: event.type, ...stamp }
    case 'sign-in': {
      const { server, error } = event
      const signIn = { server, ...(error && { problem: cut(error.message, CALL_CHARS) }) }
      return { type: 'servers.changed', ...stamp, signIn }
    }
    case 'server.state':
    case 'config.changed':
      return { type: 'servers.changed', ...stamp }
    default:
      return undefined
  }
}

/** Undefined when it says nothing. The code of the cell chose the names of arguments. */
export function shownFlow(flow: CallFlow | undefined): CallFlow | undefined {
  if (!flow || (flow.seen.length === 0 && Object.keys(flow.from).length === 0)) return undefined
  const names = (all: readonly string[]): string[] => all.slice(0, FLOW_NAMES).map((name) => cut(name, 200))
  const from = Object.entries(flow.from).slice(0, FLOW_NAMES)
  return { from: Object.fromEntries(from.map(([name, all]) => [cut(name, 200), names(all)])), seen: names(flow.seen) }
}

/** A value in the richest form that is safe to show: an image, otherwise its text. */
function shownOf(bundle: MimeBundle): Shown {
  const type = IMAGES.find((one) => typeof bundle[one] === 'string' && bundle[one].length <= IMAGE_CHARS)
  const plain = bundle['text/plain'] ?? Object.values(bundle).find((content) => typeof content === 'string')
  return {
    ...(typeof plain === 'string' && { text: cut(plain, VALUE_CHARS) }),
    ...(type !== undefined && { image: { type, data: bundle[type] as string } }),
  }
}

/** The text of a tool's result, otherwise its JSON. */
function resultText(result: unknown): string {
  const { content } = (result ?? {}) as { content?: unknown }
  const texts = Array.isArray(content) ? content.flatMap((block: { text?: unknown }) => block?.text ?? []) : []
  const text = texts.filter((one) => typeof one === 'string').join('\n')
  return text === '' ? jsonOf(result) : cut(text, CALL_CHARS)
}

function jsonOf(value: unknown): string {
  return cut(JSON.stringify(value) ?? '', CALL_CHARS)
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars)}… (${text.length - chars} more characters)`
}
