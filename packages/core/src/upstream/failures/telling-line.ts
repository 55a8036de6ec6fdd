// Finds the line of a program's output that states why it exited. Pure.

const MAX_CHARS = 300

/** Stack frames, separators, and lines that runtimes and package managers add after the reason. */
const NOISE = [
  /^\s*at .*(:\d+|\))\s*$/,
  /^[\s^~|{}[\](),;-]*$/,
  /^Node\.js v\d/,
  /^(npm|pnpm|yarn) (warn|notice|http)/i,
  /A complete log of this run can be found in/,
  /^npm (error|ERR!)( \S*)?$/,
  /^npm (error|ERR!) (code|errno|syscall|path|signal|command) /,
  /^npm (error|ERR!) 404\s+(Note that you can also|tarball, folder)/,
  /^\s*(requireStack|code|errno|syscall|path|spawnargs): /,
  /^\(?Use `node --trace/,
  /^note: run with `RUST_BACKTRACE/,
  /^(hint|help|info): /i,
]
/** A line that begins like this is the reason, whatever follows it. */
const REASON =
  /^(npm (error|ERR!) (404\s+'|.*(is not in|No matching version))|(\w+\.)*\w*(Error|Exception|Exit|Interrupt)\b|(fatal|panic|error)\b|\s*(×|╰─▶))/i

/** The last line that names an error, otherwise the last line that is not noise. Empty when there is none. */
export function tellingLine(text: string): string {
  const lines = text.split(/\r?\n/).filter((line) => !NOISE.some((noise) => noise.test(line)))
  const isTraceback = lines.some((line) => line.startsWith('Traceback (most recent call last)'))
  const last = isTraceback ? lines.findLast((line) => /^\S/.test(line)) : undefined
  const line = last ?? lines.findLast((one) => REASON.test(one)) ?? lines.at(-1) ?? ''
  const shown = line.trim().replace(/^npm (error|ERR!) (404\s+)?/, '')
  return shown.length > MAX_CHARS ? `${shown.slice(0, MAX_CHARS)}…` : shown
}
