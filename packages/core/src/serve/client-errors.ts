// What the log gets of a client's messages, whose text may hold secrets: the client itself is told.
import { DroppedError } from '../upstream/reading/words.ts'
import type { Log } from '../util/log.ts'

const MAX_DROPPED = 20

/** The error handler of a client's connection. What was left out of its messages is said once. */
export function clientErrors(log: Log, about: object = {}): (error: Error) => void {
  const dropped = new Set<string>()
  return (error) => {
    const { message: what } = error
    if (!(error instanceof DroppedError)) return log.debug('MCP', { error, ...about })
    if (dropped.has(what) || dropped.size === MAX_DROPPED) return
    dropped.add(what)
    log.warning('Left out what a client should not have sent', { what, ...about })
  }
}
