// `sandbridge top`: shows live what the resident bridge is doing: sessions, cells, calls, servers.
import { setTimeout as sleep } from 'node:timers/promises'
import { loadSettings } from '@sandbridge/core/config/settings'
import { findResidents } from './ask-resident.ts'
import { count } from '@sandbridge/core/util/text'
import { VERSION } from '@sandbridge/core/util'
import type { ResidentNow, Terminal } from '@sandbridge/core/serve/cli/terminal'
import { noneText } from './reach/status.ts'

export interface TopOptions {
  once?: boolean
  json?: boolean
}

const REFRESH_MS = 500
const ALTERNATE_SCREEN = { enter: '\u001B[?1049h\u001B[?25l', leave: '\u001B[?25h\u001B[?1049l' }
const HOME_AND_CLEAR = '\u001B[H\u001B[J'

export async function top(options: TopOptions, terminal: Terminal): Promise<void> {
  const { stdout, printJson, resident } = terminal
  if (!resident) return options.json ? printJson([]) : tellNone(terminal)
  if (options.json) return printJson([{ pid: process.pid, version: VERSION, ...(await resident.now()) }])
  if (options.once || !stdout.isTTY) return show(await resident.now(), terminal)
  stdout.write(ALTERNATE_SCREEN.enter)
  const over = new AbortController()
  terminal.onEnd(async () => {
    over.abort()
    stdout.write(ALTERNATE_SCREEN.leave)
  })
  while (!over.signal.aborted) {
    const now = await resident.now()
    if (over.signal.aborted) break
    stdout.write(HOME_AND_CLEAR)
    show(now, terminal)
    await sleep(REFRESH_MS)
  }
}

async function tellNone({ context, printEmpty }: Terminal): Promise<void> {
  const { stateDir } = await loadSettings(context.env)
  const others = await findResidents(stateDir)
  printEmpty(
    others.length === 0
      ? await noneText()
      : 'No resident bridge has the settings of this terminal. To list those that run: sandbridge status',
  )
}

function show({ sessions, runs, questions, servers, counts }: ResidentNow, terminal: Terminal): void {
  const { printLine, printTable } = terminal
  const at = Date.now()
  const facts = [
    count(sessions.length, 'session'),
    count(counts.cells, 'cell'),
    count(counts.calls, 'call'),
    ...(counts.failed > 0 ? [`${counts.failed} failed`] : []),
    ...(counts.denied > 0 ? [`${counts.denied} denied`] : []),
  ]
  printLine([{ text: `Resident ${process.pid}`, style: 'bold' }, `version ${VERSION}: ${facts.join(', ')}`], ', ')
  printTable([
    ...sessions.map(({ client, folder, at: began, cellCount }) => [
      '  session',
      seconds(at - began),
      `${client || 'a client'} in ${folder}: ${count(cellCount, 'cell')}`,
    ]),
    ...questions.map(({ message, at: asked }) => [
      { text: '  asks', style: 'yellow' as const },
      seconds(at - asked),
      message,
    ]),
    ...runs.map(({ code, at: began, number }) => [
      { text: `  cell ${number}`, style: 'cyan' as const },
      seconds(at - began),
      code.trim().split('\n')[0]!.slice(0, 100),
    ]),
    ...runs
      .flatMap(({ calls }) => calls)
      .map(({ server, name, at: sent }) => ['  call', seconds(at - sent), `${server}__${name}`]),
    ...Object.entries(servers).map(([name, { state, calls: made, failed, durationMs, error }]) => [
      { text: `  ${state}`, style: STATE_STYLES[state] ?? ('dim' as const) },
      made > 0 ? `${Math.round(durationMs / made)} ms` : '–',
      `${name}: ${count(made, 'call')}${failed > 0 ? `, ${failed} failed` : ''}${error ? `. ${error}` : ''}`,
    ]),
  ])
}

const STATE_STYLES: Record<string, 'green' | 'red' | 'yellow'> = { running: 'green', failed: 'red', starting: 'yellow' }

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
