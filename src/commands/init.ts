// `sandbridge init`: register the bridge in the clients of this machine. Shows every change before it is made, and can take it back.
import { homedir } from 'node:os'
import { applyInit, undoInit } from '../config/init/apply-init.ts'
import { planInit } from '../config/init/plan-init.ts'
import type { SkippedEntry } from '../config/server-definition.ts'
import { readSettings } from '../config/settings.ts'
import { confirm } from './confirm.ts'
import { print, visibleInline } from './print.ts'

interface InitOptions {
  yes?: boolean
  move?: boolean
  undo?: boolean
  client?: string[]
}

const COMMAND = { command: 'npx', args: ['-y', 'sandbridge'] }

export async function init(options: InitOptions): Promise<void> {
  const { stateDir, serversConfig } = readSettings(process.env)
  if (options.undo) {
    const { restored, skipped } = await undoInit(stateDir)
    print(restored.map((file) => `restored ${file}`).join('\n') || 'There is nothing to undo.')
    return printSkipped(skipped)
  }
  const place = {
    platform: process.platform,
    home: homedir(),
    cwd: process.cwd(),
    env: process.env,
    stateDir,
    serversConfig,
  }
  const plan = await planInit({
    place,
    command: COMMAND,
    move: options.move ?? false,
    ...(options.client && { clients: options.client }),
  })
  printSkipped(plan.skipped)
  for (const client of plan.registered) print(`${client}: registered already`)
  if (plan.changes.length === 0) return print('There is nothing to change.')
  for (const { client, file, diff } of plan.changes) {
    print(`\n${client}: ${visibleInline(file)}\n${diff.map(visibleInline).join('\n')}`)
  }
  if (!options.yes && !(await confirm('\nMake these changes? [y/N] '))) return print('Nothing was changed.')
  const { written, skipped } = await applyInit(plan.changes, stateDir)
  print(written.map((file) => `wrote ${file}`).join('\n'))
  printSkipped(skipped)
  print('Take it back with `sandbridge init --undo`.')
}

function printSkipped(skipped: SkippedEntry[]): void {
  for (const { file, name, reason } of skipped)
    print(visibleInline(`skipped ${name === undefined ? '' : `${name} in `}${file}: ${reason}`))
}
