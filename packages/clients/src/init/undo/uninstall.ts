// `sandbridge uninstall`: undoes init, ends what runs, deletes the cache. Asks before it deletes what is the user's.
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { hostPaths } from '@sandbridge/core/config'
import { loadSettings, processContext } from '@sandbridge/core/config/settings'
import { hasTerminal } from '@sandbridge/shared/terminal/ask-in-terminal.ts'
import { confirm } from '@sandbridge/shared/terminal/confirm.ts'
import { print, visibleInline } from '@sandbridge/core/serve/cli/terminal'
import { runCommand } from '@sandbridge/core/util/process'
import { planInit } from '../plan/plan-init.ts'
import { undo } from './undo.ts'

export async function uninstall({ yes = false }: { yes?: boolean }): Promise<void> {
  const settings = await loadSettings()
  const { stateDir, cacheDir } = settings
  const place = hostPaths(settings, processContext())
  // A folder that the user has named may hold more.
  const isOwn = /sandbridge/i.test(cacheDir.split(/[/\\]/).slice(-2).join('/'))
  print(
    `This takes Sandbridge out of your clients as \`sandbridge init --undo\` does, ends it${isOwn ? `, and deletes the cache ${visibleInline(cacheDir)}` : ''}.`,
  )
  if (!yes && !(await confirm('Go on? [y/N] '))) return print('Nothing was changed.')
  await undo({ yes: true }, place)
  const script = process.argv[1]!
  const { stdout, stderr } = await runCommand(process.execPath, [script, 'stop'])
  print(visibleInline(stdout || stderr))
  const command = { command: process.execPath, args: [script] }
  const { registered, replaced } = await planInit({ place, command, move: false })
  for (const client of new Set([...registered, ...replaced.map((one) => one.client)]))
    print(`${client} has an entry that init did not write, or that was changed since: take it out there.`)
  if (isOwn) await deleted(cacheDir)
  else print(visibleInline(`Its cache is in ${cacheDir}.`))
  const own = path.join(stateDir, '.sandbridge')
  const question = `Delete your sign-ins, saved tools, artifacts, memories and audit log, too (${visibleInline(own)})? [y/N] `
  if (existsSync(own) && hasTerminal() && !yes && (await confirm(question))) await deleted(own)
  if (existsSync(stateDir)) print(visibleInline(`Yours, and kept: ${stateDir}`))
  print('Now remove the package, such as with: npm uninstall -g sandbridge')
}

async function deleted(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  print(visibleInline(`deleted ${folder}`))
}
