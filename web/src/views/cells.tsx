// Cells: a notebook. Its cells run in a session of their own.
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Outcome } from '../../../src/ui/notebook.ts'
import { visible } from '../../../src/text/visible.ts'
import { tell } from '../api.ts'
import { CellCard } from '../parts/cell-card.tsx'
import { createEditor, type Editor } from '../parts/editor.ts'
import { useStore } from '../store.ts'

/** By session and number; they stay when another view is shown. */
const outcomes = new Map<number, Outcome>()

export function Cells(): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const editor = useRef<Editor>()
  const [isRunning, setRunning] = useState(false)
  const [problem, setProblem] = useState<string>()
  const cells = useStore()
    .cells()
    .filter(({ client }) => client === 'page')
    .toReversed()
  const run = (): void => {
    const code = editor.current!.text()
    if (code.trim() === '') return
    setRunning(true)
    setProblem(undefined)
    editor.current!.clear()
    tell<Outcome>('notebook/run', { code })
      .then(
        (outcome) => void (outcome.cell !== undefined && outcomes.set(outcome.cell, outcome)),
        (failure: Error) => setProblem(failure.message),
      )
      .finally(() => setRunning(false))
  }
  const latestRun = useRef(run)
  latestRun.current = run
  useEffect(() => {
    editor.current = createEditor(box.current!, {
      onRun: () => latestRun.current(),
      complete: (code) => tell('notebook/complete', { code }),
    })
    return () => editor.current!.close()
  }, [])
  return (
    <>
      <header class="view-head">
        <h1>Cells</h1>
        <p class="muted">Python in a session of this page. Variables stay from cell to cell.</p>
      </header>
      <div class="notebook">
        {cells.map((cell) => (
          <CellCard key={cell.id} cell={cell}>
            <Traceback outcome={outcomes.get(cell.number)} />
          </CellCard>
        ))}
      </div>
      <div class="editor" ref={box} />
      <div class="actions">
        <button type="button" class="primary" onClick={run}>
          Run
        </button>
        <span class="muted">{isRunning ? 'Running…' : 'Ctrl+Enter or Shift+Enter runs, Ctrl+Space completes'}</span>
      </div>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  )
}

function Traceback({ outcome }: { outcome: Outcome | undefined }): JSX.Element | null {
  if (!outcome) return null
  const { traceback, hint, notes } = outcome
  if (!traceback && !hint && notes.length === 0) return null
  return (
    <div class="notes">
      {traceback && (
        <details>
          <summary>Traceback</summary>
          <pre tabIndex={0}>{visible(traceback)}</pre>
        </details>
      )}
      {[...(hint ? [hint] : []), ...notes].map((note) => (
        <p key={note} class="note">
          {visible(note)}
        </p>
      ))}
    </div>
  )
}
