// Shows and answers questions about calls whose client cannot ask, like `sandbridge approve`.
import type { Bridge } from '@sandbridge/core/bridge/bridge.ts'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { answerQuestion, listQuestions } from '@sandbridge/permissions/kept-questions.ts'
import { answersTo, isAnswer } from '@sandbridge/permissions/ask-by-elicitation.ts'
import type { KeptQuestion } from '@sandbridge/core/calls'

export interface WaitingQuestion extends Pick<KeptQuestion, 'id' | 'asking' | 'text' | 'pid' | 'cell'> {
  /** The possible answers: the text, and the bridge's value. */
  answers: [words: string, answer: string][]
}

export interface AskView {
  questions: WaitingQuestion[]
}

export async function openQuestions({ settings }: Pick<Bridge, 'settings'>): Promise<AskView> {
  const open = await listQuestions(settings.stateDir)
  return {
    questions: open.map(({ id, asking, text, pid, cell, trusts }) => ({
      id,
      asking,
      text,
      pid,
      cell,
      answers: [...answersTo({ trusts })],
    })),
  }
}

/** @throws BridgeError TOOL_ARGUMENTS_INVALID for an unknown or expired question */
export async function answerAsked(
  { settings }: Pick<Bridge, 'settings'>,
  shown: Pick<KeptQuestion, 'id' | 'asking' | 'text'>,
  answer: string,
): Promise<void> {
  // The bridge that asked knows whether it offered to trust a server.
  if (!isAnswer(answer, { trusts: '' })) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'Unknown answer', { hint: 'Reload the page.' })
  }
  if (await answerQuestion(settings.stateDir, shown, answer)) return
  throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'This question is no longer open, so the answer has no effect', {
    hint: 'Run the code again: it asks again if it needs to.',
  })
}
