// Cells: a notebook, whose cells run in the page's own session or in a conversation's.
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Outcome } from '../../../src/views/notebook.ts'
import { visible } from '@sandbridge/core/util/text'
import type { AskView } from '../../../src/views/ask.ts'
import { tell } from '../api.ts'
import { CellCard } from '../parts/cell-card.tsx'
import { Question } from '../parts/question.tsx'
import { createEditor, type Editor } from '../parts/editor.ts'
import { type ChosenSession, SessionChoice, sharedSessions } from '../parts/session-choice.tsx'
import { useStore } from '../store.ts'
import { useAnswer } from '../use-answer.ts'
import { useSending } from '../use-sending.ts'
import { View } from '../parts/view.tsx'
import { Problem, Words } from '../parts/problem.tsx'

/** By session and number; kept when another view is shown. */
const outcomes = new Map<string, Outcome>()
let lastChosen: ChosenSession | undefined
/** Where a tab keeps what is typed, over other views and reloads. */
const DRAFT = 'sandbridge-draft'

export function Cells({ waiting }: { waiting: AskView | undefined }): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const editor = useRef<Editor>()
  const { isSending, problem, setProblem, send } = useSending()
  const [wanted, setWanted] = useState(lastChosen)
  /** The page's own one is another where the page shows another folder meanwhile. */
  const [latestOwn, setLatestOwn] = useState<string>()
  const store = useStore()
  const own = useAnswer<{ session: string }>('notebook', {}, { after: store.connection })
  const chosen = sharedSessions().find(({ id }) => id === wanted?.id)
  const session = chosen?.id ?? latestOwn ?? own.value?.session
  const cells = store
    .cells()
    .filter((cell) => cell.session === session)
    .toReversed()
  const place = chosen && { session: chosen.id }
  const choose = (next: ChosenSession | undefined): void => {
    lastChosen = next
    setWanted(next)
    setProblem(undefined)
  }
  const run = (): void => {
    const code = editor.current!.text()
    if (code.trim() === '') return
    editor.current!.show('')
    const done = (outcome: Outcome): void => {
      outcomes.set(`${outcome.session} ${outcome.cell}`, outcome)
      if (!place) setLatestOwn(outcome.session)
    }
    send('notebook/run', { ...place, code }, done, () => {
      if (sessionStorage.getItem(DRAFT)) return
      sessionStorage.setItem(DRAFT, code)
      editor.current!.show(code)
    })
  }
  // The editor is created once, so it reads the latest values from here.
  const latest = useRef({ run, place })
  latest.current = { run, place }
  useEffect(() => {
    editor.current = createEditor(box.current!, {
      text: sessionStorage.getItem(DRAFT) ?? '',
      onChange: (text) => sessionStorage.setItem(DRAFT, text),
      onRun: () => latest.current.run(),
      complete: (code) => tell('notebook/complete', { ...latest.current.place, code }),
    })
    return () => editor.current!.close()
  }, [])
  return (
    <View
      title="Cells"
      choice={<SessionChoice chosen={chosen} onChange={choose} />}
      about={
        chosen
          ? 'You share the variables of this conversation. Its client learns of your cell with the next result.'
          : 'Python in a session of this page. Variables stay from cell to cell.'
      }
    >
      <div class="notebook">
        {cells.map((cell) => (
          <CellCard key={cell.id} cell={cell}>
            {waiting?.questions
              .filter((question) => question.cell === cell.id)
              .map((question) => (
                <Question key={question.asking} question={question} isOpen />
              ))}
            <Traceback outcome={outcomes.get(`${cell.session} ${cell.number}`)} />
          </CellCard>
        ))}
      </div>
      <div class="editor" ref={box} />
      <div class="actions">
        <button type="button" class="primary" onClick={run}>
          Run
        </button>
        <span class="muted">{isSending ? 'Running…' : 'Ctrl+Enter or Shift+Enter runs, Ctrl+Space completes'}</span>
      </div>
      <Problem text={problem} />
    </View>
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
          <Words text={note} />
        </p>
      ))}
    </div>
  )
}
