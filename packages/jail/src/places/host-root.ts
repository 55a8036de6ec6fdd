// The machine's own root folders for containers: an image of empty folders, over which the machine's folders are
// mounted. A jailed server thus runs with the programs installed here, without pulling an image.
import { hash } from 'node:crypto'
import { readdir, readlink } from 'node:fs/promises'
import path from 'node:path'
import type { Engine } from '@sandbridge/containers/probe-engine.ts'
import { runCommand } from '@sandbridge/core/util/process'
import { HIDDEN_ROOTS } from './view.ts'

export interface RootFolders {
  /** Full paths. */
  folders: string[]
  /** Full paths and their targets. */
  links: [file: string, target: string][]
}

/** The root folders of the machine that a jail shows. */
export async function rootFolders(): Promise<RootFolders> {
  const shown = (await readdir('/', { withFileTypes: true })).filter(({ name }) => !HIDDEN_ROOTS.has(name))
  const links = shown.filter((entry) => entry.isSymbolicLink()).map(({ name }) => path.join('/', name))
  return {
    folders: shown.filter((entry) => entry.isDirectory()).map(({ name }) => path.join('/', name)),
    links: await Promise.all(links.map(async (file): Promise<[string, string]> => [file, await readlink(file)])),
  }
}

/**
 * Ensures that the image of empty folders exists: a few kilobytes, made without a registry.
 * @returns its name, or why it could not be made
 */
export async function ensureRootImage(
  { command }: Engine,
  root: RootFolders,
): Promise<{ image: string } | { reason: string }> {
  const archive = rootArchive(root)
  const digest = hash('sha256', archive).slice(0, 16)
  const image = `localhost/sandbridge-jail-root:${digest}`
  const known = await runCommand(command, ['image', 'inspect', '--format', '{{.Id}}', image])
  if (known.code === 0) return { image }
  const { code, stderr } = await runCommand(command, ['import', '-', image], { input: archive })
  return code === 0 ? { image } : { reason: `${command} cannot make an image: ${stderr || 'no output'}` }
}

const BLOCK = 512

/**
 * The image as a tar archive. /tmp and /var have the modes of their later mounts: some engines take the modes from the
 * image.
 */
function rootArchive({ folders, links }: RootFolders): Buffer {
  const entries = [
    ...folders.map((folder) => header(folder, { mode: 0o755 })),
    ...['/home', '/run'].map((folder) => header(folder, { mode: 0o755 })),
    ...['/tmp', '/var'].map((folder) => header(folder, { mode: 0o1777 })),
    ...links.map(([file, target]) => header(file, { mode: 0o777, target })),
  ]
  return Buffer.concat([...entries, Buffer.alloc(2 * BLOCK)])
}

/** POSIX.1-1988 ustar. */
function header(file: string, { mode, target }: { mode: number; target?: string }): Buffer {
  const block = Buffer.alloc(BLOCK)
  block.write(file.slice(1), 0, 100)
  block.write(`${mode.toString(8).padStart(7, '0')}\0${'0000000\0'.repeat(2)}${'00000000000\0'.repeat(2)}`, 100)
  block.write(' '.repeat(8), 148)
  block.write(target === undefined ? '5' : '2', 156)
  block.write(target ?? '', 157, 100)
  block.write('ustar\u000000', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}
