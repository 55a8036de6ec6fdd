// Reads a bundle's entries one at a time. It is a stranger's: one that is no plain file refuses it as a whole.
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import { messageOf } from '@sandbridge/core/errors.ts'
import { isSafeName } from '@sandbridge/shared/unpack/zip-archive.ts'

const MAX_ENTRIES = 20_000

/** Says why a bundle is refused, as the end of a sentence about the file. */
export class BundleError extends Error {
  override readonly name = 'BundleError'
}

/** @param maxBytes largest entry @throws BundleError, and what node:fs throws */
export async function* bundleEntries(file: string, maxBytes: number): AsyncGenerator<{ name: string; data: Buffer }> {
  const names = new Set<string>()
  const check = (name: string, isPlain: boolean): void => {
    const shown = JSON.stringify(name.slice(0, 100))
    if (!isPlain) throw new BundleError(`has an entry that is not a plain file: ${shown}`)
    if (!isSafeName(name)) throw new BundleError(`has an entry outside of it: ${shown}`)
    if (names.has(name)) throw new BundleError(`has two entries of one name: ${shown}`)
    if (names.add(name).size > MAX_ENTRIES) throw new BundleError('has too many entries')
  }
  try {
    for await (const { header, body } of tarEntries(file)) {
      check(header.name, header.type === 'file')
      if (header.size > maxBytes) throw new BundleError(`has an entry that is too large: ${header.name}`)
      yield { name: header.name, data: await buffer(body) }
    }
  } catch (error) {
    // Errors of decoders have no code of the operating system.
    if (error instanceof BundleError || (error instanceof Error && 'syscall' in error)) throw error
    throw new BundleError(`is damaged, or not a bundle (${messageOf(error)})`)
  }
}

function tarEntries(file: string): AsyncIterable<ParsedTarEntry> {
  const stream = Readable.toWeb(createReadStream(file)) as unknown as ReadableStream<Uint8Array>
  return stream.pipeThrough(createTarDecoder({ strict: true }))
}
