// A question about calls: what is asked, and the buttons that answer it.
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { visible } from '@sandbridge/core/util/text'
import type { WaitingQuestion } from '../../../src/views/ask.ts'
import { useSending } from '../use-sending.ts'
import { Problem } from './problem.tsx'

interface QuestionProps {
  question: WaitingQuestion
  isOpen: boolean
}

/** One question about calls, with its answers. */
export function Question({ question, isOpen }: QuestionProps): JSX.Element {
  const [given, setGiven] = useState<string>()
  const { isSending, problem, send } = useSending()
  const told = useRef<HTMLParagraphElement>(null)
  const { title, calls, reason } = partsOf(question.text)
  // The button that had the focus is gone.
  useEffect(() => {
    if (given !== undefined) told.current?.focus()
  }, [given])
  const give = ([words, answer]: WaitingQuestion['answers'][number]): void => {
    const { id, asking, text } = question
    send('question/answer', { id, asking, text, answer }, () => setGiven(words))
  }
  return (
    <article class="cell question" aria-label={visible(title)}>
      <h2>{visible(title)}</h2>
      <pre tabIndex={0} role="group" aria-label="Arguments">
        {visible(calls)}
      </pre>
      <p class="muted">
        {visible(reason)} Bridge {question.pid}.
      </p>
      <Problem text={problem} />
      {given === undefined && isOpen ? (
        <div class="actions">
          {question.answers.map((one) => (
            <button
              type="button"
              class={one[1] === 'stop' ? 'stop' : ''}
              disabled={isSending}
              onClick={() => give(one)}
            >
              {one[0]}
            </button>
          ))}
        </div>
      ) : (
        <p class="notice" role="status" tabIndex={-1} ref={told}>
          {given === undefined
            ? 'This question is no longer open: it was answered elsewhere, or it timed out.'
            : `Answered: ${given}. ${question.cell === undefined ? 'It counts when the same code runs again.' : 'The cell goes on.'}`}
        </p>
      )}
    </article>
  )
}

/** The bridge indents the calls in a question, and nothing before them. */
function partsOf(text: string): { title: string; calls: string; reason: string } {
  const [title = '', ...lines] = text.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('  '))
  const calls = lines.slice(0, end === -1 ? lines.length : end)
  return {
    title,
    calls: calls.map((line) => line.slice(2)).join('\n'),
    reason: lines.slice(calls.length).join('\n'),
  }
}
