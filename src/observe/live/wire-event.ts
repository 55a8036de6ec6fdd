// Serialises events for other programs of the same user, within limits: a call that returns 50 MB must cost its
// observer little.
import type { BridgeEvent } from '../events/event.ts'

/** Limit for a text field, such as output or code, in characters. */
const MAX_TEXT = 64_000
/** Limit for the JSON of arguments, results and values, in characters. */
const MAX_JSON = 16_000
/** Limit for one display, which may be an image in base64. */
const MAX_DISPLAY = 4 << 20

/** Returns the line for one event, without its LF. `cut` lists the truncated fields. */
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

/** Replaces each large field by a field with `Json` added to its name, which holds the start of its JSON. */
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
