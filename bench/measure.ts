// Timing for benchmark rows: many samples and their median, because single samples on a shared machine mean nothing.

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** For CPU time, which other load on the machine can only increase, by evicting caches. */
export function lowerQuartile(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 2]!
}

/** Milliseconds that `work` takes once. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** Milliseconds of each of `count` sequential runs. */
export async function samples(count: number, work: (index: number) => Promise<number>): Promise<number[]> {
  const all: number[] = []
  for (let index = 0; index < count; index += 1) all.push(await work(index))
  return all
}

export const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`
export const ratio = (value: number) => `${value.toFixed(2)} ×`
