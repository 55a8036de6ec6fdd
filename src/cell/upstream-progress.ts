// How far an upstream says that it is with a call, and the line that tells it. Pure.
import { shortNumber } from '../text/short-number.ts'

export interface UpstreamProgress {
  /** `server.tool`. */
  name: string
  done: number
  total?: number
  message?: string
}

/** `maps.render: 2 of 5, tiles`; the words are the server's own. */
export function describeUpstreamProgress({ name, done, total, message }: UpstreamProgress): string {
  const steps = [done, ...(total === undefined ? [] : [total])].map(shortNumber).join(' of ')
  return `${name}: ${steps}${message ? `, ${message}` : ''}`
}
