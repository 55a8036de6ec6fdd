// Shows one cell: its code, calls, output and outcome, and actions on it.
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { sandboxName, visible, visibleInline } from '@sandbridge/core/util/text'
import type { Run } from '@sandbridge/core/observe/runs'
import { tell } from '../api.ts'
import { clock, duration } from '../words.ts'
import { Code } from './code.tsx'
import { Output } from './output.tsx'
import { Status } from './status.tsx'
import { Waterfall } from './waterfall.tsx'

interface CellCardProps {
  cell: Run
  /** Show the code above the output. */
  withCode?: boolean
  /** It is from the record and can be used again. */
  isOpened?: boolean
  children?: ComponentChildren
}

export function CellCard({ cell, withCode = true, isOpened = false, children }: CellCardProps): JSX.Element {
  const isRunning = cell.status === 'running'
  const now = useNow(isRunning)
  return (
    <article class={`cell ${cell.status}`} aria-label={`Cell ${cell.number}`}>
      <header>
        <Status status={cell.status} />
        <span class="muted">
          {visibleInline(cell.client || 'cell')} · cell {cell.number} · {clock(cell.at)} ·{' '}
          {duration(cell.durationMs ?? Math.max(0, now - cell.at))}
          {isRunning && ` of ${duration(cell.timeoutMs)}`} · {sandboxName(cell.provider)}
        </span>
        <span class="spacer" />
        {isRunning && <StopButton cell={cell} />}
        {!isRunning && <CopyButton text={cell.code} label={isOpened ? 'Copy as a cell' : 'Copy'} />}
      </header>
      {withCode && <Code code={cell.code} />}
      <Waterfall cell={cell} now={now} />
      <Output cell={cell} />
      {cell.error && (
        <p class="raised">
          <strong>{visibleInline(cell.error.code)}</strong> {visible(cell.error.message)}
        </p>
      )}
      {children}
      {cell.stateLost && <p class="note">The variables of this session are gone.</p>}
    </article>
  )
}

function StopButton({ cell }: { cell: Run }): JSX.Element {
  const [isAsked, setAsked] = useState(false)
  const stop = (): void => {
    setAsked(true)
    tell('interrupt', { id: cell.id }).catch(() => setAsked(false))
  }
  return (
    <button type="button" class="stop" onClick={stop} disabled={isAsked}>
      {isAsked ? 'Stopping…' : 'Stop'}
    </button>
  )
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }): JSX.Element {
  const [isDone, setDone] = useState(false)
  const copy = (): void =>
    void navigator.clipboard.writeText(text).then(() => {
      setDone(true)
      setTimeout(() => setDone(false), 1_500)
    })
  return (
    <button type="button" class="quiet" onClick={copy}>
      {isDone ? 'Copied' : label}
    </button>
  )
}

function useNow(isRunning: boolean): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    if (!isRunning) return undefined
    const timer = setInterval(() => setNow(Date.now()), 200)
    return () => clearInterval(timer)
  }, [isRunning])
  return now
}
