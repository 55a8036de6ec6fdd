// The progress that an upstream reports for a call, and its text. Pure.
import { shortNumber } from '../util/text/short-number.ts'

export interface UpstreamProgress {
  /** `server.tool`. */
  name: string
  done: number
  total?: number
  message?: string
}

/** Returns a text such as `maps.render: 2 of 5, tiles`; the last part is the server's message. */
export function describeUpstreamProgress({ name, done, total, message }: UpstreamProgress): string {
  const steps = [done, ...(total === undefined ? [] : [total])].map(shortNumber).join(' of ')
  return `${name}: ${steps}${message ? `, ${message}` : ''}`
}
