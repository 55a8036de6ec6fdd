// What is added to the record while somebody watches, whichever bridge adds it.
import { open, stat } from 'node:fs/promises'
import path from 'node:path'
import { recordFiles } from './other-files.ts'
import { entryOf, matches, type RecordEntry, type RecordFilter } from './record-entry.ts'

const MAX_READ = 4 << 20

/** Begins at the end of what is there now. */
export async function followRecord(folder: string): Promise<{ next(filter: RecordFilter): Promise<RecordEntry[]> }> {
  const positions = new Map<string, number>()
  for (const name of await recordFiles(folder)) positions.set(name, await sizeOf(path.join(folder, name)))
  return {
    next: async (filter) => {
      const found: RecordEntry[] = []
      for (const name of await recordFiles(folder)) {
        const file = path.join(folder, name)
        const start = positions.get(name) ?? 0
        const text = await readFrom(file, start)
        // A line that is being written comes next time.
        const whole = text.subarray(0, text.lastIndexOf(0x0a) + 1)
        positions.set(name, start + whole.length)
        for (const line of whole.toString().split('\n')) {
          const entry = entryOf(line)
          if (entry && matches(entry, filter)) found.push(entry)
        }
      }
      return found.toSorted((a, b) => a.time.localeCompare(b.time))
    },
  }
}

function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  )
}

async function readFrom(file: string, start: number): Promise<Buffer> {
  const size = await sizeOf(file)
  if (size <= start) return Buffer.alloc(0)
  const handle = await open(file)
  try {
    const length = Math.min(size - start, MAX_READ)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, start)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}
