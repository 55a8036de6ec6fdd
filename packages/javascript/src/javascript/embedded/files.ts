// The parts of `node:fs` and `node:fs/promises` that read and write files. Python cells see the same files.
import { Buffer } from 'buffer/'
import { host } from './host.ts'

/** Node's codes for the error numbers of the file system. */
const CODES: Record<number, [code: string, words: string]> = {
  2: ['EACCES', 'permission denied'],
  20: ['EEXIST', 'file already exists'],
  28: ['EINVAL', 'not a regular file'],
  31: ['EISDIR', 'illegal operation on a directory'],
  44: ['ENOENT', 'no such file or directory'],
  51: ['ENOSPC', 'no space left on device'],
  54: ['ENOTDIR', 'not a directory'],
  55: ['ENOTEMPTY', 'directory not empty'],
}

interface Found {
  isFile: boolean
  isFolder: boolean
  size: number
  mtimeMs: number
}

interface Options {
  encoding?: string | null
  flag?: string
  recursive?: boolean
  force?: boolean
  withFileTypes?: boolean
}

const named = (options: Options | string | null | undefined): Options =>
  typeof options === 'string' ? { encoding: options } : (options ?? {})

function done<T>(result: T | number, call: string, path: unknown): T {
  if (typeof result !== 'number') return result
  const [code, words] = CODES[result] ?? ['EIO', 'i/o error']
  throw Object.assign(new Error(`${code}: ${words}, ${call} '${String(path)}'`), { code, syscall: call, path })
}

/** @param call name of the operation in errors */
function ask(call: string, what: string, ...given: unknown[]): unknown {
  return JSON.parse(done(host().file(what, ...given.map(String)), call, given[0]))
}

const found = (call: string, path: unknown) => ask(call, 'stat', path) as Found
const listed = (path: unknown) => (ask('scandir', 'list', path) as string[]).toSorted()

const sync = {
  readFile: (path: unknown, options?: Options | string) => {
    const bytes = Buffer.from(done(host().readFile(String(path)), 'open', path))
    const { encoding } = named(options)
    return encoding ? bytes.toString(encoding) : bytes
  },
  writeFile: (path: unknown, content: unknown, options?: Options | string) => {
    const { encoding, flag = 'w' } = named(options)
    // A copy: a Buffer may be a part of a larger ArrayBuffer.
    const bytes = ArrayBuffer.isView(content)
      ? new Uint8Array(content.buffer, content.byteOffset, content.byteLength).slice()
      : new Uint8Array(Buffer.from(String(content), (encoding ?? 'utf8') as 'utf8'))
    done(host().writeFile(String(path), bytes.buffer, flag.startsWith('a') ? 'append' : 'replace'), 'open', path)
  },
  appendFile: (path: unknown, content: unknown, options?: Options | string) =>
    sync.writeFile(path, content, { ...named(options), flag: 'a' }),
  readdir: (path: unknown, options?: Options) => {
    const names = listed(path)
    if (!options?.withFileTypes) return names
    return names.map((name) => ({ name, parentPath: String(path), ...kinds(found('stat', `${String(path)}/${name}`)) }))
  },
  stat: (path: unknown) => {
    const { size, mtimeMs, ...kind } = found('stat', path)
    return { size, mtimeMs, mtime: new Date(mtimeMs), ...kinds(kind) }
  },
  access: (path: unknown) => void found('access', path),
  mkdir: (path: unknown, options?: Options): void => {
    const parts = String(path).split('/')
    if (!options?.recursive) ask('mkdir', 'makeFolder', path)
    else
      for (let count = 1; count <= parts.length; count += 1) {
        const folder = parts.slice(0, count).join('/')
        if (folder !== '' && !exists(folder)) ask('mkdir', 'makeFolder', folder)
      }
  },
  rm: (path: unknown, options?: Options): void => {
    if (options?.force && !exists(path)) return
    const { isFolder } = found('rm', path)
    if (isFolder && options?.recursive) for (const name of listed(path)) sync.rm(`${String(path)}/${name}`, options)
    ask('rm', isFolder ? 'removeFolder' : 'removeFile', path)
  },
  unlink: (path: unknown) => void ask('unlink', 'removeFile', path),
  rmdir: (path: unknown) => void ask('rmdir', 'removeFolder', path),
  rename: (from: unknown, to: unknown) => void ask('rename', 'rename', from, to),
  copyFile: (from: unknown, to: unknown) => sync.writeFile(to, sync.readFile(from)),
}

function kinds({ isFile, isFolder }: Pick<Found, 'isFile' | 'isFolder'>) {
  return { isFile: () => isFile, isDirectory: () => isFolder, isSymbolicLink: () => false }
}

function exists(path: unknown): boolean {
  return typeof host().file('stat', String(path)) === 'string'
}

export const promises = Object.fromEntries(
  Object.entries(sync).map(([name, work]) => [
    name,
    async (...given: unknown[]) => (work as (...all: unknown[]) => unknown)(...given),
  ]),
)

export const fs = {
  ...Object.fromEntries(Object.entries(sync).map(([name, work]) => [`${name}Sync`, work])),
  existsSync: exists,
  promises,
}
