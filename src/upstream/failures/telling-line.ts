// The one line of what a program wrote before it ended that says why. Pure.

const MAX_CHARS = 300

/** Frames of stacks, rulers, and what runtimes and package managers add below the reason. */
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
/** At the start of a line these are the reason itself, whatever is below it. */
const REASON =
  /^(npm (error|ERR!) (404\s+'|.*(is not in|No matching version))|(\w+\.)*\w*(Error|Exception|Exit|Interrupt)\b|(fatal|panic|error)\b|\s*(×|╰─▶))/i

/** The last line that names an error, else the last one that says anything. Empty when there is none. */
export function tellingLine(text: string): string {
  const lines = text.split(/\r?\n/).filter((line) => !NOISE.some((noise) => noise.test(line)))
  const isTraceback = lines.some((line) => line.startsWith('Traceback (most recent call last)'))
  const last = isTraceback ? lines.findLast((line) => /^\S/.test(line)) : undefined
  const line = last ?? lines.findLast((one) => REASON.test(one)) ?? lines.at(-1) ?? ''
  const shown = line.trim().replace(/^npm (error|ERR!) (404\s+)?/, '')
  return shown.length > MAX_CHARS ? `${shown.slice(0, MAX_CHARS)}…` : shown
}
