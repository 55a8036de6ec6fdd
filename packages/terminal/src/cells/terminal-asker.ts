// Lets cells ask the person at a terminal about calls, with clients' choices. Other forms are for clients.
import type { TimeLimit } from '@sandbridge/core/cell'
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { Asker, Question } from '@sandbridge/core/calls'
import { isRecord } from '@sandbridge/core/util/json/json.ts'
import { forgetTyped, hasTerminal, pickOne, whileAsking } from '@sandbridge/shared/terminal/ask-in-terminal.ts'
import type { Terminal } from '@sandbridge/core/serve/cli/terminal'
import type { ProgressBar } from '@sandbridge/shared/terminal/progress-bar.ts'

export function terminalAsker(bar: ProgressBar, timeLimit: TimeLimit | undefined, terminal: Terminal): Asker {
  return {
    canAnswer: (question) => hasTerminal(terminal) && choiceOf(question) !== undefined,
    hold: (work) => timeLimit?.hold(work) ?? work,
    /** @throws BridgeError CANCELLED when the cell ends before an answer */
    ask: async (question, signal) => {
      const choice = choiceOf(question)
      if (!choice) return { action: 'decline' }
      const picked = await whileAsking({ bar, timeLimit }, async () => {
        if (signal?.aborted) return undefined
        await forgetTyped(terminal)
        terminal.tell(String(question.params['message']))
        return pickOne(choice.words, 'for no', signal, terminal)
      })
      if (signal?.aborted) {
        terminal.stderr.write('\n')
        throw new BridgeError('CANCELLED', 'The cell that sent the request has ended')
      }
      return picked === undefined ? { action: 'decline' } : { action: 'accept', content: { [choice.field]: picked } }
    },
  }
}

/** The choice of a form with a single field. */
function choiceOf({ method, params }: Question): { field: string; words: string[] } | undefined {
  const form = params['requestedSchema']
  if (method !== 'elicitation/create' || params['mode'] !== 'form' || !isRecord(form)) return undefined
  const [[field, schema] = [], ...others] = Object.entries(isRecord(form['properties']) ? form['properties'] : {})
  const words: unknown = isRecord(schema) ? schema['enum'] : undefined
  if (field === undefined || others.length > 0 || !Array.isArray(words)) return undefined
  return { field, words: words.filter((word) => typeof word === 'string') }
}
