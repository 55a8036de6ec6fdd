// Runs a cell for a person: shows its output as it comes, then its value, and images as files.
import type { OpenTenant, RunCellRequest } from '@sandbridge/core/bridge'
import { joinParts, renderResult, withParts } from '@sandbridge/core/cell/render'
import type { MediaBlock, Part, ShownResult } from '@sandbridge/core/cell/render'
import type { Session } from '@sandbridge/core/cell'
import { shellWord } from '@sandbridge/core/config/secrets'
import { LiveOutput } from './live-output.ts'
import { OWN_TERMINAL, type Terminal } from '@sandbridge/core/serve/cli/terminal'
import type { ProgressBar } from '@sandbridge/shared/terminal/progress-bar.ts'
import { saveMedia } from './save-media.ts'
import { terminalAsker } from './terminal-asker.ts'
import type { Upstreams, UpstreamState } from '@sandbridge/core/upstream'

export interface TerminalOptions {
  bar: ProgressBar
  /** Print the result as JSON after the cell, and nothing before. */
  json?: boolean
  images: string
  endsSession?: boolean
  /** Missing: that of this process. */
  terminal?: Terminal
}

/** Exit code of a cell that Ctrl-C has ended. */
const INTERRUPTED = 130
/** Exit code of a cell that ended well, but calls of which were refused or failed. */
const NOT_ALL_DONE = 4

/** @returns its exit code */
export async function runInTerminal(
  bridge: Pick<OpenTenant, 'upstreams' | 'cells'>,
  session: Session,
  request: RunCellRequest,
  { bar, json = false, images, endsSession = false, terminal = OWN_TERMINAL }: TerminalOptions,
): Promise<number> {
  const live = json ? undefined : new LiveOutput(bar, terminal)
  const stop = showStartingServers(bridge.upstreams, bar)
  const listeners = { ...bar.listeners, ...(live && { onOutput: live.write }) }
  const asker = terminalAsker(bar, request.timeLimit, terminal)
  // The session ends with this command, so a later answer elsewhere could not be used.
  const run = { client: 'terminal' }
  const whole = { run, ...request, listeners, asker, forPerson: true, keepsQuestions: false }
  let result: ShownResult | undefined
  const interrupted = { isSet: false }
  // Elsewhere, a listener stands in place of the end.
  if (terminal === OWN_TERMINAL && endsSession) terminal.onInterrupt(() => (interrupted.isSet = true))
  try {
    result = await bridge.cells.run(session, whole)
  } finally {
    stop()
    live?.end(result)
    bar.clear()
  }
  if (interrupted.isSet && result.status !== 'ok') {
    terminal.tell(['sandbridge: Interrupted.', ...(result.ownNotes ?? [])].join(' '))
    return INTERRUPTED
  }
  const ended = endOf(result)
  if (ended && !json) {
    if (ended.text !== undefined) terminal.tell(ended.text)
    return ended.code
  }
  const rest = withParts(live ? { ...result, stdout: '', stderr: '' } : result, { endsSession })
  // As Python does, what is not output of the cell goes to stderr.
  const isPrinted = ({ kind }: Part): boolean => json || (kind !== 'error' && kind !== 'note')
  const told = rest.parts.filter((part) => !isPrinted(part))
  const shown = { ...rest, parts: rest.parts.filter(isPrinted) }
  const { content, isError } = renderResult(shown, { mode: json ? 'json' : 'compact', outputTokens: Infinity })
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  if (live && text !== '' && text !== '(no output)') terminal.print(text)
  if (told.length > 0) terminal.tell(joinParts(told))
  const media = content.filter((other): other is MediaBlock => other.type === 'image' || other.type === 'audio')
  const saved = await saveMedia(media, images, terminal.context.cwd)
  const exitCode = ended ? ended.code : isError ? 1 : result.notDone === undefined ? 0 : NOT_ALL_DONE
  const artifacts = (result.artifacts ?? []).map(({ name, version }) => ({ name, version }))
  if (json) {
    const more = { ...(saved.length > 0 && { files: saved }), ...(artifacts.length > 0 && { artifacts }) }
    terminal.print(Object.keys(more).length === 0 ? text : JSON.stringify({ ...(JSON.parse(text) as object), ...more }))
    return exitCode
  }
  for (const file of saved) terminal.tell(`Saved ${file}`)
  for (const { name, version } of artifacts)
    terminal.tell(`Kept ${name}, version ${version}. Show it: sandbridge artifacts ${shellWord(name)}`)
  return exitCode
}

/** What `sys.exit` means for a program: its exit code, or a text for stderr and the code 1. */
function endOf({ error }: ShownResult): { code: number; text?: string } | undefined {
  if (error?.name !== 'SystemExit') return undefined
  return /^-?\d{1,15}$/.test(error.message) ? { code: Number(error.message) & 0xff } : { code: 1, text: error.message }
}

const LOOK_EVERY_MS = 200

/** Shows the servers that the command waits for while they start. @returns a function that stops this */
function showStartingServers(upstreams: Upstreams, bar: ProgressBar): () => void {
  const startedAt = performance.now()
  const timer = setInterval(() => {
    const named = (state: UpstreamState) =>
      upstreams.definitions.map(({ name }) => name).filter((name) => upstreams.of(name).state === state)
    const parts = (['starting', 'installing'] as const)
      .map((state) => [state, named(state).join(', ')])
      .filter(([, names]) => names !== '')
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    bar.waitFor(parts.length === 0 ? '' : `${parts.map((part) => part.join(' ')).join('; ')} (${seconds} s)`)
  }, LOOK_EVERY_MS)
  return () => {
    clearInterval(timer)
    bar.waitFor('')
  }
}
