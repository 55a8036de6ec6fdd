// Lets a package manager finish outside of the bridge. Killed while it writes, it leaves a lock or half a package in
// its cache, and then the server starts nowhere on this machine. So a process of its own waits for it: also when the
// bridge ends meanwhile, which has seconds to do so.
import { type ChildProcess, spawn } from 'node:child_process'
import { foundProgram, untrackGroup } from '@sandbridge/core/util/process'
import type { WatchedFolder } from './install-place.ts'

/** How long its folders stay the same before it is asked to end, and after that before it is killed. */
export interface FinishLimits {
  askAfterMs: number
  killAfterMs: number
}

/** On Windows, where a shell that a manager is started by ends with the bridge: how long after the last change. */
const QUIET_MS = 5000

/**
 * CommonJS for `node -e`. Arguments: the process group, its limits, the watched folders, and taskkill on Windows. It
 * reads the group's output, so that no write fails.
 */
const SOURCE = `
const { execFile } = require('node:child_process')
const { lstatSync, readdirSync } = require('node:fs')
const { Socket } = require('node:net')
const path = require('node:path')
const [pid, { askAfterMs, killAfterMs }, watched, taskkill] = process.argv.slice(1).map((text) => JSON.parse(text))
const isWindows = taskkill !== null
for (const fd of [3, 4]) {
  try {
    new Socket({ fd }).on('error', () => {}).resume()
  } catch {}
}
const state = () => {
  let seen = ''
  let left = 3000
  const look = (place, depth) => {
    try {
      const { size, mtimeMs } = lstatSync(place)
      seen += [size, mtimeMs, ''].join(' ')
      if (depth > 0) for (const name of readdirSync(place).sort()) if (left-- > 0 && !/lock$/.test(name)) look(path.join(place, name), depth - 1)
    } catch {}
  }
  for (const { folder, depth } of watched) look(folder, depth)
  return seen
}
const isAlive = () => {
  try {
    return process.kill(isWindows ? pid : -pid, 0)
  } catch ({ code }) {
    return code === 'EPERM'
  }
}
const end = (isForced) => {
  const args = ['/pid', String(pid), '/T', ...(isForced ? ['/F'] : [])]
  if (isWindows) return execFile(taskkill, args, { windowsHide: true }, () => {})
  try {
    process.kill(-pid, isForced ? 'SIGKILL' : 'SIGTERM')
  } catch {}
}
let last = state()
let since = performance.now()
let isAsked = false
const timer = setInterval(() => {
  const now = state()
  if (now !== last) since = performance.now()
  last = now
  if (!isAlive() && !(isWindows && performance.now() - since < ${QUIET_MS})) return process.exit()
  if (performance.now() - since < (isAsked ? killAfterMs : askAfterMs)) return
  end(isAsked)
  if (isAsked) clearInterval(timer)
  isAsked = true
  since = performance.now()
}, 200)
`

/** Returns at once. The process gets the end of its input, so that a server that it starts in the end exits. */
export function leaveToFinish(
  child: ChildProcess,
  watched: readonly WatchedFolder[],
  limits: FinishLimits,
  platform = process.platform,
): void {
  const { pid, stdin, stdout, stderr } = child
  if (pid === undefined) return
  const taskkill = platform === 'win32' ? foundProgram('taskkill').file : null
  const args = [pid, limits, watched, taskkill].map((value) => JSON.stringify(value))
  const output = [stdout, stderr].map((stream) => (stream?.destroyed === false ? stream : 'ignore'))
  const finisher = spawn(process.execPath, ['-e', SOURCE, '--', ...args], {
    detached: true,
    windowsHide: true,
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', ...output],
  })
  finisher.on('error', () => {})
  finisher.unref()
  stdin?.end()
  child.unref()
  untrackGroup(pid)
}
