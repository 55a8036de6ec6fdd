// Ask: questions about calls whose client cannot ask, and their answers. A card keeps its position until the user
// leaves: a new or expired question must not move another one under the pointer.
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { count } from '@sandbridge/core/util/text'
import type { AskView, WaitingQuestion } from '../../../src/views/ask.ts'
import { Question } from '../parts/question.tsx'
import { Empty, View } from '../parts/view.tsx'

export function Ask({ waiting }: { waiting: AskView | undefined }): JSX.Element {
  const questions = waiting?.questions ?? []
  const seen = useRef(new Map<string, WaitingQuestion>()).current
  for (const question of questions) if (!seen.has(question.asking)) seen.set(question.asking, question)
  const open = new Set(questions.map(({ asking }) => asking))
  return (
    <View title="Ask" about={`${count(questions.length, 'question')} to answer`}>
      {waiting && seen.size === 0 && (
        <Empty title="No call waits for an answer">
          <p>
            When your rules say <code>ask</code> and your client cannot ask you, the question appears here.
          </p>
          <p>After your answer the same code has to run again.</p>
        </Empty>
      )}
      {[...seen.values()].map((question) => (
        <Question key={question.asking} question={question} isOpen={open.has(question.asking)} />
      ))}
    </View>
  )
}
