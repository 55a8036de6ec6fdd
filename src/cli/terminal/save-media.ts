// Saves images and sounds of a cell in a terminal as files under unused names.
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError, messageOf } from '../../errors.ts'
import type { MediaBlock } from '../../cell/render/bundle.ts'

const MAX_NUMBER = 100_000

/** @returns their paths, in order. @throws BridgeError when the folder cannot be written to */
export async function saveMedia(blocks: readonly MediaBlock[], folder: string): Promise<string[]> {
  const saved: string[] = []
  try {
    // Node would retry forever to create a folder in /proc.
    if (/^\/proc(\/|$)/.test(path.resolve(folder))) throw new Error('/proc cannot hold files')
    if (blocks.length > 0) await mkdir(folder, { recursive: true })
    for (const block of blocks) saved.push(await saveOne(block, folder))
  } catch (cause) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `Images cannot be saved in '${folder}': ${messageOf(cause)}`, {
      cause,
      hint: 'Pass --images FOLDER to save them in another folder.',
    })
  }
  return saved
}

/** Never overwrites an existing file. */
async function saveOne({ type, data, mimeType }: MediaBlock, folder: string): Promise<string> {
  const extension = mimeType.replace(/^\w+\/(x-)?/, '').replace(/[^a-z0-9]/g, '') || 'bin'
  for (let number = 1; number < MAX_NUMBER; number += 1) {
    const file = path.join(folder, `${type}-${number}.${extension === 'jpeg' ? 'jpg' : extension}`)
    try {
      await writeFile(file, data, { encoding: 'base64', flag: 'wx' })
      return file
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
  }
  throw new Error('the folder already has too many of these files')
}
