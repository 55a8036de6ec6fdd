// A limited `Promise.all`: a process may have as few as 256 open files (64 on some systems), and servers that are asked
// all at once run into their time limit for lack of CPU.

const AT_ONCE = 8

/** Returns the results of `work` in order. Works on a few items at a time. @throws the first error of `work` */
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
