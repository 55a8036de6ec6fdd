// When a clock on the wall of a time zone shows a time: never in the hour that a change leaves out, and twice in the
// one that it repeats. A time on the wall is given as the moment at which UTC shows it. Pure.

const DAY_MS = 24 * 60 * 60_000
const formats = new Map<string, Intl.DateTimeFormat>()

/** What the clock shows at a moment. */
export function wallAt(moment: number, zone: string): number {
  const format = formats.get(zone) ?? formatOf(zone)
  const parts = new Map(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]))
  const of = (type: string): number => parts.get(type as Intl.DateTimeFormatPartTypes)!
  const seconds = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
  return seconds + (((moment % 1_000) + 1_000) % 1_000)
}

/** The first moment at which the clock shows a time. Of a time that a change leaves out: when the clock goes on. */
export function momentOf(wall: number, zone: string): number {
  const shift = (moment: number): number => wallAt(moment, zone) - moment
  const before = wall - shift(wall - DAY_MS)
  const after = wall - shift(wall + DAY_MS)
  const shows = [before, after].filter((moment) => wallAt(moment, zone) === wall)
  if (shows.length > 0) return Math.min(...shows)
  return changeBetween(after, before, zone)
}

/** The first moment in between from which on the clock goes differently; `to` if it never does. */
export function changeBetween(from: number, to: number, zone: string): number {
  const shift = (moment: number): number => wallAt(moment, zone) - moment
  let [low, high] = [from, to]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (shift(middle) === shift(from)) low = middle
    else high = middle
  }
  return high
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const numeric = 'numeric' as const
  const fields = { year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric, second: numeric }
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...fields })
  formats.set(zone, format)
  return format
}
