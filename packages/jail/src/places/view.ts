// What a jailed server sees of this machine: which folders, whether writable, what is hidden. Changes nothing.
import { lstatSync } from 'node:fs'
import { readlink, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import type { ServerSandbox, StdioServer } from '@sandbridge/core/config/entries'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { findCommand, foldersOfProgram } from './find-program.ts'
import { guardedPlaces } from './guarded-places.ts'
import { withoutLinked } from './planted-links.ts'
import { PROGRAM_PLACES, SECRET_PLACES } from './private-places.ts'
import { isInside } from '@sandbridge/core/util/files'

export interface ViewRequest {
  /** With its placeholders filled in. */
  server: StdioServer
  sandbox: ServerSandbox
  /** Its working directory. */
  cwd: string
  home: string
  /** PATH. */
  searchPath: string
  stateDir: string
  /** Other folders and files of the bridge, and config files with other servers' secrets. */
  hidden: readonly string[]
  /** Files that stay readable whatever else is hidden, such as certificates. */
  files: readonly string[]
  /** It runs in an image with its own programs and folders. */
  inImage?: boolean
  /** Whether files and folders that its arguments name are opened. */
  opensNamed: boolean
}

/** One mount; the order matters. `source` contains no symbolic links. */
export interface Mount {
  kind: 'read' | 'write' | 'hide-folder' | 'hide-file'
  source: string
  target: string
}

/** Root folders that no jail shows: other users' files, temporary files, and folders with sockets. */
export const HIDDEN_ROOTS: ReadonlySet<string> = new Set(
  'proc dev sys run tmp var home root mnt media boot lost+found Users Volumes'.split(' '),
)

/** The hidden root folders that contain users' files. In an image, the other folders are the image's. */
const USER_ROOTS = /^\/(?:home|root|Users|Volumes|mnt|media|tmp|private)\//

const isOfUser = (file: string): boolean => USER_ROOTS.test(file)

/** The parameters of a jail, for every jail-maker. */
export interface JailStart {
  home: { source: string; target: string }
  mounts: readonly Mount[]
  proxySocket: string | undefined
  /** Whether it uses the network of this machine. */
  network: boolean
  cwd: string
  command: readonly string[]
  environment: Record<string, string>
}

export interface View {
  /** The full path of the program; for an image, its name. */
  command: string
  mounts: Mount[]
}

interface ResolvedPath {
  real: string
  isFolder: boolean
}

/** @throws NodeJS.ErrnoException when the command does not exist */
export async function viewFor(request: ViewRequest): Promise<View> {
  const { server, sandbox, cwd, home, searchPath, inImage = false } = request
  const { allowRead = [], allowWrite = [], denyRead = [], denyWrite = [] } = sandbox.filesystem ?? {}
  const args = request.opensNamed ? server.args : []
  const command = inImage ? server.command : await findCommand(server.command, cwd, searchPath)
  const named = [
    cwd,
    ...(inImage
      ? namedFolders([command, ...args], cwd).filter((file) => isOfUser(file) || isInside(cwd, file))
      : [
          ...((await isChangeable(command, allowWrite)) ? [] : await foldersOfProgram(command, searchPath)),
          ...PROGRAM_PLACES.map((place) => path.join(home, place)),
          ...namedFolders(args, cwd),
        ]),
    ...request.files,
  ].filter((folder) => !isInside(folder, home) && folder !== path.join(home, '.local'))
  const secrets = await secretPlaces(request)
  const own = await placesOf([request.stateDir])
  const denied = await placesOf(denyRead)
  const asked = await placesOf([...allowRead, ...allowWrite])
  const unwritable = await placesOf(denyWrite)

  const realHome = await realpath(home).catch(() => home)
  // A path that occurs in a definition opens no private place. Servers may be installed in the state folder.
  const implied = (await mountsOf('read', await withoutLinked(named, allowWrite))).filter(
    ({ source }) => !isInside(source, realHome) && !isIn(secrets, source) && !own.some(({ real }) => real === source),
  )
  const written = (await mountsOf('write', allowWrite)).filter(({ source }) => !isIn(unwritable, source))
  const opened = withoutShownLinks(
    [...implied, ...(await mountsOf('read', allowRead)), ...written].filter(({ source }) => !isIn(denied, source)),
    inImage,
  )
  const shut = [...secrets, ...own].filter(({ real }) => !asked.some((place) => place.real === real))
  const kept = [...denied, ...shut].map(({ real }) => real)
  // In a renamed folder, the next start would not find what is to be hidden.
  const guarded = await guardsOf([...guardedPlaces({ allowWrite, denyWrite }), ...kept], written)
  const hides = hidesOf([...denied, ...shut], opened, inImage ? undefined : home)
  for (const { kind, source } of [...guarded, ...hides]) if (kind !== 'write') refuseOtherCase(source)
  return { command, mounts: inOrder([...opened, ...guarded, ...hides]) }
}

/**
 * A mount covers one name of a file. On disks of macOS it has more, of which a container's machine knows nothing. The
 * names of a folder are one there.
 * @throws BridgeError CONFIG_INVALID
 */
function refuseOtherCase(file: string): void {
  const name = path.basename(file)
  const other = name === name.toUpperCase() ? name.toLowerCase() : name.toUpperCase()
  const [one, two] = [name, other].map((each) => lstatSync(path.join(file, '..', each), { throwIfNoEntry: false }))
  if (other === name || !one?.isFile() || one.dev !== two?.dev || one.ino !== two.ino) return
  throw new BridgeError(
    'CONFIG_INVALID',
    `The sandbox of this server cannot protect ${file}: ${other} is the same file.`,
    {
      hint: 'Move it to a disk where case counts. To leave it unprotected, name it in allowRead or allowWrite alone.',
    },
  )
}

/** Whether the server can choose what this program is, and so which folders it would open as the program's. */
async function isChangeable(command: string, allowWrite: readonly string[]): Promise<boolean> {
  const unlinked = await withoutLinked([command], allowWrite)
  return unlinked.length === 0 || isIn(await placesOf(allowWrite), await realpath(command))
}

/** @throws BridgeError CONFIG_INVALID for a sandbox that exposes too much */
export async function refuseTooMuch({ sandbox, home, stateDir, hidden }: ViewRequest): Promise<void> {
  const { allowRead = [], allowWrite = [] } = sandbox.filesystem ?? {}
  const realHome = await realpath(home).catch(() => home)
  for (const { real } of await placesOf([...allowRead, ...allowWrite])) {
    const what = isInside(real, realHome)
      ? 'holds your whole home folder'
      : (await placesOf([stateDir, ...hidden])).some((own) => own.isFolder && isInside(real, own.real))
        ? 'holds the files of this bridge'
        : undefined
    if (what === undefined) continue
    throw new BridgeError('CONFIG_INVALID', `The sandbox of this server opens ${real}, which ${what}.`, {
      hint: 'Name the folders that the server needs in allowWrite and allowRead. ${workspaceFolder} is where the bridge runs.',
    })
  }
}

/**
 * The user's files and folders that arguments name, without those that no jail opens, such as keys and the whole home
 * folder.
 */
export async function userPlacesIn(
  args: readonly string[],
  request: Pick<ViewRequest, 'cwd' | 'home' | 'stateDir' | 'hidden'>,
): Promise<string[]> {
  const named = args.flatMap((argument) => pathIn(argument, request.cwd) ?? [])
  const closed = [...(await secretPlaces(request)), ...(await placesOf([request.stateDir]))]
  const open = await Promise.all(
    [...new Set(named)].map(async (file) => {
      const real = await realpath(file).catch(() => undefined)
      if (real === undefined || isInside(real, request.home) || isIn(closed, real)) return []
      return isOfUser(real) || isInside(request.home, real) ? [file] : []
    }),
  )
  return open.flat()
}

function secretPlaces({ home, hidden }: Pick<ViewRequest, 'home' | 'hidden'>): Promise<ResolvedPath[]> {
  return placesOf([...SECRET_PLACES.map((place) => path.join(home, place)), ...hidden])
}

/** Folders that arguments name; for a script, the project that it belongs to. */
function namedFolders(args: readonly string[], cwd: string): string[] {
  return args.flatMap((argument) => {
    const file = pathIn(argument, cwd)
    if (file === undefined) return []
    const modules = file.indexOf('/node_modules/')
    return modules > 0 ? [file, file.slice(0, modules + '/node_modules'.length)] : [file, ...projectOf(file)]
  })
}

function pathIn(argument: string, cwd: string): string | undefined {
  const text = argument.startsWith('-') ? (/=(.+)$/s.exec(argument)?.[1] ?? '') : argument
  return text.includes('/') && !text.includes('://') && !text.includes('\0') ? path.resolve(cwd, text) : undefined
}

/** A script imports other files of its project: `…/build/index.js`, `…/src/server.py`. */
function projectOf(file: string): string[] {
  if (!/\.(?:[cm]?[jt]s|py)$/.test(file)) return []
  const folder = path.dirname(file)
  return /^(?:build|dist|src|lib|bin|out)$/.test(path.basename(folder)) ? [path.dirname(folder)] : [folder]
}

async function mountsOf(kind: 'read' | 'write', named: readonly string[]): Promise<Mount[]> {
  const mounts: Mount[] = []
  for (const target of new Set(named)) {
    const real = await realpath(target).catch(() => undefined)
    if (real === undefined) continue
    for (const place of new Set([real, ...(await linksFrom(path.resolve(target)))]))
      mounts.push({ kind, source: real, target: place })
  }
  return mounts
}

/** The place, and those that it leads to as a link to a link. */
async function linksFrom(place: string): Promise<Set<string>> {
  const places = new Set<string>()
  for (let at = place; !places.has(at);) {
    places.add(at)
    const to = await readlink(at).catch(() => undefined)
    if (to !== undefined) at = path.resolve(path.dirname(at), to)
  }
  return places
}

/**
 * A link in a folder that is shown leads to what is mounted at its real place. Bubblewrap cannot mount over it, as it
 * would follow the link outside of the jail.
 */
function withoutShownLinks(mounts: readonly Mount[], inImage: boolean): Mount[] {
  const isShown = (file: string): boolean =>
    (!inImage && !HIDDEN_ROOTS.has(file.split('/')[1]!)) ||
    mounts.some(({ target }) => target !== file && isInside(target, file))
  return mounts.filter(({ source, target }) => source === target || !isShown(target))
}

/**
 * Mounts each guarded place over itself, wherever the server may write. What is mounted over cannot be renamed or
 * removed, so the folders between it and the writable one are mounted over themselves, too.
 */
async function guardsOf(places: readonly string[], written: readonly Mount[]): Promise<Mount[]> {
  const real = (await placesOf(places)).map((place) => place.real)
  return real.flatMap((place) =>
    written
      .filter(({ source }) => isInside(source, place) && source !== place)
      .flatMap(({ source, target }) => {
        const at = (file: string): Pick<Mount, 'source' | 'target'> => ({
          source: file,
          target: path.join(target, path.relative(source, file)),
        })
        const between: Mount[] = foldersBetween(source, place)
          .filter((folder) => !real.some((other) => isInside(other, folder)))
          .map((folder) => ({ kind: 'write', ...at(folder) }))
        return [...between, { kind: 'read' as const, ...at(place) }]
      }),
  )
}

function foldersBetween(outer: string, inner: string): string[] {
  const names = path.relative(outer, inner).split('/').slice(0, -1)
  return names.map((_, index) => path.join(outer, ...names.slice(0, index + 1)))
}

async function placesOf(named: readonly string[]): Promise<ResolvedPath[]> {
  const places: ResolvedPath[] = []
  for (const one of named) {
    const real = await realpath(one).catch(() => undefined)
    if (real !== undefined) places.push({ real, isFolder: (await stat(real)).isDirectory() })
  }
  return places
}

/**
 * Hides each place in every shown folder that contains it. In the home folder, only opened folders are shown.
 * @param home undefined when the machine's root is not shown
 */
function hidesOf(places: readonly ResolvedPath[], opened: readonly Mount[], home: string | undefined): Mount[] {
  return places.flatMap(({ real, isFolder }) => {
    const [, first = ''] = real.split('/')
    const root: Mount[] =
      HIDDEN_ROOTS.has(first) || home === undefined || isInside(home, real)
        ? []
        : [{ kind: 'read', source: '/', target: '/' }]
    return [...root, ...opened]
      .filter(({ source }) => isInside(source, real) && source !== real)
      .map(({ source, target }) => ({
        kind: isFolder ? ('hide-folder' as const) : ('hide-file' as const),
        source: real,
        target: path.join(target, path.relative(source, real)),
      }))
  })
}

const isIn = (places: readonly ResolvedPath[], file: string): boolean => places.some(({ real }) => isInside(real, file))

const STRENGTH: Record<Mount['kind'], number> = { read: 0, write: 1, 'hide-folder': 3, 'hide-file': 3 }

/** Outer folders first, so that mounts inside them apply on top. Each target is mounted once. */
function inOrder(mounts: readonly Mount[]): Mount[] {
  const depth = (target: string): number => target.split('/').length
  const byTarget = new Map<string, Mount>()
  for (const mount of mounts) {
    const other = byTarget.get(mount.target)
    if (!other || STRENGTH[mount.kind] >= STRENGTH[other.kind]) byTarget.set(mount.target, mount)
  }
  return [...byTarget.values()].toSorted((a, b) => depth(a.target) - depth(b.target))
}
