import { spawn } from 'node:child_process'

/** A program of Node in a folder, with the processes that it starts: those of tests outlive it otherwise. */
export function runTool(folder, args, limitMs) {
  return new Promise((resolve) => {
    const isGroup = process.platform !== 'win32'
    const child = spawn(process.execPath, args, { cwd: folder, stdio: 'ignore', detached: isGroup })
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      if (child.pid !== undefined) process.kill(isGroup ? -child.pid : child.pid, 'SIGKILL')
    }, limitMs)
    child.on('close', (exitCode) => {
      clearTimeout(timer)
      resolve({ isGood: exitCode === 0, isLate })
    })
  })
}
