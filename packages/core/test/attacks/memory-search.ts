// Searches all of the embedded sandbox's memory from a cell, for words that the cell itself never holds.
import type { Victim } from './victims.ts'

const ENCODINGS = ['latin1', 'utf16le'] as const

/**
 * Which of these words occur in the memory of a kernel. They are sent and compared in halves, so that a search never
 * finds itself.
 */
export async function searchMemory(victim: Pick<Victim, 'run'>, words: readonly string[]): Promise<string[]> {
  const needles = words.map((word) =>
    ENCODINGS.map((encoding) => {
      const bytes = Buffer.from(word, encoding)
      return [bytes.subarray(0, bytes.length >> 1), bytes.subarray(bytes.length >> 1)].map((half) =>
        half.toString('hex'),
      )
    }),
  )
  const output = await victim.run(`
import ctypes, os, struct
device = os.open('/dev/sandbridge-memory', os.O_RDONLY)
size = int(struct.unpack('d', os.read(device, 8))[0])
os.close(device)
memory = memoryview((ctypes.c_char * size).from_address(0)).cast('B')
needles = [[[bytes.fromhex(half) for half in halves] for halves in forms] for forms in ${JSON.stringify(needles)}]
# Memory is read once for all words that begin alike, which is most of them.
beginnings = {}
for index, forms in enumerate(needles):
    for first, second in forms: beginnings.setdefault(first[:6], []).append((index, first, second))
found = set()
for start in range(0, size, 1 << 20):
    part = bytes(memory[start:start + (1 << 20) + 1000])
    for beginning, wanted in beginnings.items():
        at = part.find(beginning)
        while at >= 0:
            found.update(index for index, first, second in wanted
                if part.startswith(first, at) and part.startswith(second, at + len(first)))
            at = part.find(beginning, at + 1)
print('FOUND', sorted(found), size > 20 << 20)`)
  const [, found] = /^FOUND \[([\d, ]*)\] True$/m.exec(output) ?? []
  if (found === undefined) throw new Error(`memory could not be searched: ${output}`)
  return found === '' ? [] : found.split(',').map((at) => words[Number(at)]!)
}
