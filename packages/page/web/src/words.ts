// Formats numbers and times for people. Pure.

/** `850 ms`, `2.4 s`, `3 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1) return '<1 ms'
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`
}

export function clock(at: number): string {
  return new Date(at).toLocaleTimeString(undefined, { hour12: false })
}

/** `14:03:22` for today, `11-21 14:03` for another day. */
export function moment(at: number): string {
  const day = new Date(at).toLocaleDateString('sv')
  if (day === new Date().toLocaleDateString('sv')) return clock(at)
  return `${day.slice(5)} ${clock(at).slice(0, 5)}`
}

/** `812`, `12.4k`, `1.3M`. */
export function short(count: number): string {
  if (count < 1_000) return String(count)
  if (count < 999_950) return `${(count / 1_000).toFixed(1)}k`
  return `${(count / 1_000_000).toFixed(1)}M`
}

export function bytes(count: number): string {
  return count < 1_024
    ? `${count} B`
    : count < 1_048_576
      ? `${(count / 1_024).toFixed(1)} KiB`
      : `${(count / 1_048_576).toFixed(1)} MiB`
}
