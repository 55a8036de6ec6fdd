// `Promise.all` over a map opens every file at once, and a process may have as few as 256 open (64 in some places).

const AT_ONCE = 8

/** The results of `work` for each item, in their order. Few of them are worked on at once. @throws what `work` throws first */
export async function mapFew<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++
      results[index] = await work(items[index]!)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return results
}
