// Events as they leave the process for another program of the same user: bounded, so that a call that answers with 50 MB costs its observer little.
import type { BridgeEvent } from '../events/event.ts'

/** Characters of a text, such as what a cell prints or its code. */
const MAX_TEXT = 64_000
/** Of JSON of arguments, results and values. */
const MAX_JSON = 16_000
/** Of one display, which may be an image in base64. */
const MAX_DISPLAY = 4 << 20

/** The line for one event, without its end. `cut` names the fields that are not all there. */
export function wireLine(event: BridgeEvent): string {
  const cut: string[] = []
  // Fields with a slash are content types: a truncated image is useless, so those are not cut.
  const line = JSON.stringify(event, (key, value: unknown) => {
    if (typeof value === 'string' && value.length > MAX_TEXT && !key.includes('/')) {
      cut.push(key)
      return value.slice(0, MAX_TEXT)
    }
    return value
  })
  if (line.length <= MAX_JSON + MAX_TEXT)
    return cut.length > 0 ? `${line.slice(0, -1)},"cut":${JSON.stringify(cut)}}` : line
  return JSON.stringify(bounded(event))
}

/** The large fields as the beginning of their JSON, in a field of their own name with `Json` after it. */
function bounded(event: BridgeEvent): Record<string, unknown> {
  const cut: string[] = []
  const entries = Object.entries(event).map(([key, value]: [string, unknown]) => {
    if (typeof value === 'string') {
      if (value.length > MAX_TEXT) cut.push(key)
      return [key, value.slice(0, MAX_TEXT)]
    }
    if (typeof value !== 'object' || value === null) return [key, value]
    const json = JSON.stringify(value)
    const max = ['cell.display', 'cell.ended', 'run.ended'].includes(event.type) ? MAX_DISPLAY : MAX_JSON
    if (json.length <= max) return [key, value]
    cut.push(key)
    return [`${key}Json`, json.slice(0, max)]
  })
  return { ...(Object.fromEntries(entries) as Record<string, unknown>), cut }
}
