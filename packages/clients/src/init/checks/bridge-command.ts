// The command with which clients start this bridge, for as long as it is installed by whatever package manager.
import { existsSync, lstatSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { fieldsOf } from '@sandbridge/core/util/json/json.ts'
import { findPrograms, realpathOr } from '@sandbridge/core/util/process'
import { isOfOneVersion, isShim, stableNode, stablePath } from './stable-path.ts'
import { type BridgeCommand, BRIDGE_NAME } from '../plan/targets.ts'

/** Folders of programs that fetch a package for one start; words to run it with a clean stdout; an option for files. */
const RUNNERS: readonly [folder: RegExp, program: string, words: string[], option: string | undefined][] = [
  [/[/\\]_npx[/\\]/, 'npx', ['-y'], '-p'],
  [/[/\\]xfs-[^/\\]+[/\\]dlx-/, 'yarn', ['dlx', '-q'], '-p'],
  [/[/\\]dlx(?:-\d+)?[/\\]/, 'pnpm', ['dlx'], undefined],
  [/[/\\]\.?bunx-/, 'bun', ['x'], '--package'],
]

/** What package managers put on the PATH. */
const ENTRY = 'packages/sandbridge/cli.cjs'

/** Any other cache of packages, such as Deno's. */
const CACHE = /[/\\](?:\.cache|Caches|[\w-]*-cache|deno)[/\\].*[/\\](?:node_modules|npm)[/\\]/

/** Whether a package's folder is one that its manager may delete at any time. */
export function isInCache(root: string): boolean {
  return CACHE.test(root) || RUNNERS.some(([folder]) => folder.test(root))
}

/**
 * @param root the folder of this package
 * @param running the path of the running Node: clients that a desktop starts may have no PATH that has it
 * @throws BridgeError CONFIG_INVALID for a folder that may be deleted at any time
 */
export function bridgeCommand(root: string, running: string, find = findPrograms): BridgeCommand {
  const node = stableNode(running, find('node'))
  const runner = RUNNERS.find(([folder]) => folder.test(root))
  if (runner) return byRunner(runner, root, node, find)
  if (CACHE.test(root))
    throw new BridgeError(
      'CONFIG_INVALID',
      `This Sandbridge is in a cache, which may be deleted at any time: ${root}`,
      {
        hint: 'Install it first: npm install -g sandbridge',
      },
    )
  const own = path.join(root, 'dist/cli.js')
  const script = stablePath(own, { running, stable: node })
  // What a version manager or pnpm has put beside its own programs goes with the next version.
  const launcher = isOfOneVersion(script) ? find(BRIDGE_NAME).find((file) => launches(file, own)) : undefined
  return launcher === undefined ? { command: node, args: [script] } : { command: launcher, args: [] }
}

/** Whether a program is a stable one that starts the package of this script. */
function launches(file: string, script: string): boolean {
  if (isOfOneVersion(file)) return false
  if (isShim(file) || [script, path.join(script, '../../..', ENTRY)].includes(realpathOr(file))) return true
  return (
    lstatSync(file).size < 16_384 &&
    /sandbridge[/\\](?:dist[/\\]cli\.js|packages[/\\]sandbridge[/\\]cli\.cjs)/.test(readFileSync(file, 'utf8'))
  )
}

/** As the runner was asked for it: by a version, or by the place of a file. */
function byRunner(
  [, program, words, option]: (typeof RUNNERS)[number],
  root: string,
  node: string,
  find: (name: string) => string[],
): BridgeCommand {
  const spec = specOf(root)
  const isName = spec === BRIDGE_NAME || spec.startsWith(`${BRIDGE_NAME}@`)
  const wanted =
    isName || option === undefined
      ? [spec]
      : [option, program === 'yarn' ? `${BRIDGE_NAME}@file:${spec}` : spec, BRIDGE_NAME]
  const npx = ['../lib/node_modules', 'node_modules'].map((place) => path.join(node, '..', place, 'npm/bin/npx-cli.js'))
  // npx is a script for the Node on the PATH, which a client of the desktop lacks.
  const cli = program === 'npx' ? npx.find((file) => existsSync(file)) : undefined
  if (cli !== undefined) return { command: node, args: [cli, ...words, ...wanted] }
  // Yarn puts itself into a folder of this one start.
  const place = find(program).find((file) => !/[/\\]xfs-/.test(file) && !isOfOneVersion(file))
  return { command: place ?? program, args: [...words, ...wanted] }
}

function specOf(root: string): string {
  const folder = root.split(/[/\\](?:node_modules|\.yarn)[/\\]/)[0]!
  const made = readJson(path.join(folder, 'package.json'))
  const [asked] = [fieldsOf(made['_npx'])['packages']].flat()
  if (typeof asked === 'string' && asked.startsWith(BRIDGE_NAME)) return asked
  const spec = fieldsOf(made['dependencies'])[BRIDGE_NAME]
  if (typeof spec !== 'string' || !/[/\\]/.test(spec)) return BRIDGE_NAME
  return /^[\w+]{2,}:/.test(spec) && !spec.startsWith('file:') ? spec : path.resolve(folder, spec.replace(/^file:/, ''))
}

function readJson(file: string): Record<string, unknown> {
  try {
    return fieldsOf(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return {}
  }
}
