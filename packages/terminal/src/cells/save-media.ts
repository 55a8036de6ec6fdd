// Saves images and sounds of a cell in a terminal as files under unused names.
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { BridgeError, messageOf } from '@sandbridge/core/errors.ts'
import type { MediaBlock } from '@sandbridge/core/cell/render'

const MAX_NUMBER = 100_000

/**
 * @param folder relative to `cwd`
 * @returns their paths, in order, relative if the folder is
 * @throws BridgeError when the folder cannot be written to
 */
export async function saveMedia(blocks: readonly MediaBlock[], folder: string, cwd: string): Promise<string[]> {
  const saved: string[] = []
  const whole = path.resolve(cwd, folder)
  try {
    // Node would retry forever to create a folder in /proc.
    if (/^\/proc(\/|$)/.test(whole)) throw new Error('/proc cannot hold files')
    if (blocks.length > 0) await mkdir(whole, { recursive: true })
    for (const block of blocks) saved.push(path.join(folder, await saveOne(block, whole)))
  } catch (cause) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `Images cannot be saved in '${folder}': ${messageOf(cause)}`, {
      cause,
      hint: 'Pass --images FOLDER to save them in another folder.',
    })
  }
  return saved
}

/** Never overwrites an existing file. @returns its name */
async function saveOne({ type, data, mimeType }: MediaBlock, folder: string): Promise<string> {
  const extension = mimeType.replace(/^\w+\/(x-)?/, '').replace(/[^a-z0-9]/g, '') || 'bin'
  for (let number = 1; number < MAX_NUMBER; number += 1) {
    const file = `${type}-${number}.${extension === 'jpeg' ? 'jpg' : extension}`
    try {
      await writeFile(path.join(folder, file), data, { encoding: 'base64', flag: 'wx' })
      return file
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
  }
  throw new Error('the folder already has too many of these files')
}
