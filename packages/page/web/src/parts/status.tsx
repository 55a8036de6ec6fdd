// Shows a state as a dot and a word, so that it never depends on colour alone.
import type { JSX } from 'preact'

const TONES: Record<string, string> = {
  ok: 'good',
  up: 'good',
  running: 'live',
  starting: 'live',
  error: 'bad',
  failed: 'bad',
  killed: 'bad',
  timeout: 'warn',
  interrupted: 'warn',
  unfinished: 'warn',
  'signed-in': 'good',
}

const WORDS: Record<string, string> = {
  ok: 'done',
  up: 'running',
  'not-started': 'idle',
  timeout: 'timed out',
  'signed-in': 'signed in',
  'signed-out': 'signed out',
}

export function Status({ status }: { status: string }): JSX.Element {
  return (
    <span class={`status ${TONES[status] ?? 'still'}`}>
      <span class="dot" aria-hidden="true" />
      {WORDS[status] ?? status}
    </span>
  )
}
