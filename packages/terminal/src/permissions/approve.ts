// `sandbridge approve`: answers questions about calls whose client cannot ask.
import { loadSettings } from '@sandbridge/core/config/settings'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { answerQuestion, listQuestions } from '@sandbridge/permissions/kept-questions.ts'
import { answersTo, isAnswer } from '@sandbridge/permissions/ask-by-elicitation.ts'
import type { KeptQuestion } from '@sandbridge/core/calls'
import type { Terminal } from '@sandbridge/core/serve/cli/terminal'
import { hasTerminal, pickOne } from '@sandbridge/shared/terminal/ask-in-terminal.ts'

/**
 * @throws BridgeError STATE_NOT_FOUND for an unknown id, or TOOL_ARGUMENTS_INVALID for an unknown answer, or without a
 * terminal to ask in
 */
export async function approve(
  id: string | undefined,
  options: { answer?: string; json?: boolean },
  terminal: Terminal,
): Promise<void> {
  const { print, printEmpty, printJson } = terminal
  const { stateDir } = await loadSettings(terminal.context.env)
  const questions = (await listQuestions(stateDir)).filter((question) => id === undefined || question.id === id)
  if (id !== undefined && questions.length === 0)
    throw new BridgeError('STATE_NOT_FOUND', `No question '${id}' waits for an answer`, {
      hint: 'To list them: sandbridge approve --json',
    })
  if (options.json && options.answer === undefined)
    return printJson(questions.map(({ id: one, text }) => ({ id: one, text })))
  if (questions.length === 0)
    return printEmpty(
      `No call waits for an answer in ${stateDir}. For a client with its own state folder, set MCP_BRIDGE_STATE_DIR.`,
    )
  const [only] = questions
  const answers = answersTo(id === undefined || !only ? {} : only)
  if (options.answer !== undefined && (id === undefined || !isAnswer(options.answer, only ?? {}))) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', '--answer needs the id of a question, and an answer', {
      hint: `Answers: ${[...answers.values()].join(', ')}. Ids: sandbridge approve --json`,
    })
  }
  for (const question of questions) {
    if (!options.json) print(question.text)
    const answer = options.answer ?? (await askFor(question, terminal))
    const isThere = answer !== undefined && (await answerQuestion(stateDir, question, answer))
    if (options.json) printJson({ id: question.id, ...(isThere && { answer }) })
    else print(isThere ? `Answered: ${answer}. It counts when the code is run again.` : 'Not answered.')
  }
}

async function askFor(question: KeptQuestion, terminal: Terminal): Promise<string | undefined> {
  if (!hasTerminal(terminal)) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', 'There is no terminal to ask in', {
      hint: `Answer with: sandbridge approve ${question.id} --answer yes`,
    })
  }
  const answers = answersTo(question)
  const picked = await pickOne([...answers.keys()], 'to leave it open', undefined, terminal)
  return picked === undefined ? undefined : answers.get(picked)
}
