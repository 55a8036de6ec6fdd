// Saves a cell as a tool: shows the function, and saves it by a cell in the page's session, as a model would.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Outcome } from '../../../src/views/notebook.ts'
import { definedName, firstComment, nameProblem, type SavedAs, savingCode, workflowTitle } from '../tool-code.ts'
import { useSending } from '../use-sending.ts'
import { Code } from './code.tsx'
import { Problem } from './problem.tsx'

export function SaveTool({ code }: { code: string }): JSX.Element {
  const [name, setName] = useState(definedName(code) ?? '')
  const [description, setDescription] = useState(firstComment(code))
  const [as, setAs] = useState<SavedAs>('tool')
  const [saved, setSaved] = useState<string>()
  const { isSending, problem, setProblem, send } = useSending()
  const saving = savingCode(code, name || 'name', description.trim(), as)
  const save = (event: Event): void => {
    event.preventDefault()
    const wrong = nameProblem(name)
    setProblem(wrong)
    setSaved(undefined)
    if (wrong !== undefined) return
    send('notebook/run', { code: saving }, (outcome: Outcome) =>
      outcome.status === 'ok' ? setSaved(name) : setProblem(reasonOf(outcome)),
    )
  }
  return (
    <form class="try" aria-label="Save as a tool" onSubmit={save}>
      <label class="field">
        <span>Name</span>
        <input type="text" value={name} onInput={(event) => setName(event.currentTarget.value)} spellcheck={false} />
      </label>
      <label class="field">
        <span>
          Description <span class="muted">optional</span>
        </span>
        <input type="text" value={description} onInput={(event) => setDescription(event.currentTarget.value)} />
      </label>
      <label class="field">
        <span>As</span>
        <select value={as} onChange={(event) => setAs(event.currentTarget.value === 'tool' ? 'tool' : 'workflow')}>
          <option value="tool">a tool that cells import</option>
          <option value="workflow">a workflow that also runs without a model</option>
        </select>
      </label>
      <Code code={saving} label="The cell that saves it" />
      <div class="actions">
        <button type="submit" class="primary" disabled={isSending}>
          {isSending ? 'Saving…' : 'Save'}
        </button>
        <span class="muted">The code itself does not run.</span>
      </div>
      <Problem text={problem} />
      {saved !== undefined && (
        <p class="notice" role="status">
          Saved. {as === 'tool' ? 'Cells import it with ' : 'A terminal runs it with '}
          <code>
            {as === 'tool' ? `from user_tools import ${saved}` : `sandbridge run-workflow ${workflowTitle(saved)}`}
          </code>
          . See <a href={`#/kept/${encodeURIComponent(`tool ${saved}`)}`}>Kept</a>.
        </p>
      )}
    </form>
  )
}

function reasonOf({ traceback, hint, status }: Outcome): string {
  const last = traceback?.trim().split('\n').at(-1) ?? `The cell that saves it ended: ${status}`
  return [last, hint].filter(Boolean).join('\n')
}
