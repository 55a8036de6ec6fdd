// Durations as people write them. Pure.

const UNITS = [
  [0.001, 'ms millisecond milliseconds'],
  [1, 's sec secs second seconds'],
  [60, 'm min mins minute minutes'],
  [3_600, 'h hr hrs hour hours'],
  [86_400, 'd day days'],
] as const
/** A number, which may have a decimal comma: three digits after one may be thousands. */
export const DECIMAL = String.raw`(?:\d{1,12}(?:\.\d{1,6}|,\d{1,2}(?!\d))?|\.\d{1,6})`
const DURATION = new RegExp(String.raw`(${DECIMAL})\s*([a-z]*)\s*`, 'giy')
const SECONDS = new Map(UNITS.flatMap(([each, names]) => names.split(' ').map((name) => [name, each])))

/** `90`, `1.5 min`, `1h 30m`; what is no such text stays as it is. */
export function secondsOf(given: unknown): unknown {
  const parts = typeof given === 'string' ? [...given.toLowerCase().matchAll(DURATION)] : []
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== String(given).toLowerCase()) return given
  const each = parts.map(([, number = '', unit]) => {
    const unitSeconds = SECONDS.get(unit || (parts.length === 1 ? 's' : '')) ?? NaN
    return Number(number.replace(',', '.')) * unitSeconds
  })
  return each.reduce((sum, one) => sum + one)
}
