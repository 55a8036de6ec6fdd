// Ask: questions about calls whose client cannot ask, and their answers. A card keeps its position until the user
// leaves: a new or expired question must not move another one under the pointer.
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import type { WaitingQuestion } from '../../../src/views/ask.ts'
import { Question } from '../parts/question.tsx'
import type { Waiting } from '../use-waiting.ts'
import { plural } from '../words.ts'

export function Ask({ waiting }: { waiting: Waiting }): JSX.Element {
  const { questions, isKnown } = waiting
  const seen = useRef(new Map<string, WaitingQuestion>()).current
  for (const question of questions) if (!seen.has(question.asking)) seen.set(question.asking, question)
  const open = new Set(questions.map(({ asking }) => asking))
  return (
    <>
      <header class="view-head">
        <h1>Ask</h1>
        <p class="muted">{plural(questions.length, 'question')} to answer</p>
      </header>
      {isKnown && seen.size === 0 && (
        <div class="empty">
          <h2>No call waits for an answer</h2>
          <p>
            When your rules say <code>ask</code> and your client cannot ask you, the question appears here.
          </p>
          <p>After your answer the same code has to run again.</p>
        </div>
      )}
      {[...seen.values()].map((question) => (
        <Question key={question.asking} question={question} isOpen={open.has(question.asking)} />
      ))}
    </>
  )
}
