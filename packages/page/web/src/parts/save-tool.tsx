// Saves a cell as a tool or a workflow, by a cell in the page's session.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Saved, Saving } from '../../../src/views/notebook.ts'
import { nameProblem } from '../python-text.ts'
import { useSending } from '../use-sending.ts'
import { Problem } from './problem.tsx'

export function SaveTool({ code }: { code: string }): JSX.Element {
  const [name, setName] = useState('')
  const [description, setDescription] = useState(/^\s*#+[ \t]*(.*)/.exec(code)?.[1]?.trim() ?? '')
  const [as, setAs] = useState<Saving['as']>('tool')
  const [saved, setSaved] = useState<Saved>()
  const { isSending, problem, setProblem, send } = useSending()
  const save = (event: Event): void => {
    event.preventDefault()
    const wrong = nameProblem(name)
    setProblem(wrong)
    setSaved(undefined)
    if (wrong !== undefined) return
    const saving: Saving = { code, name, description: description.trim(), as }
    send('notebook/save', saving, setSaved)
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
      <div class="actions">
        <button type="submit" class="primary" disabled={isSending}>
          {isSending ? 'Saving…' : 'Save'}
        </button>
        <span class="muted">The code itself does not run.</span>
      </div>
      <Problem text={problem} />
      {saved !== undefined && (
        <p class="notice" role="status">
          Saved. {saved.title === undefined ? 'Cells import it with ' : 'A terminal runs it with '}
          <code>
            {saved.title === undefined
              ? `from user_tools import ${saved.name}`
              : `sandbridge run-workflow ${saved.title}`}
          </code>
          . See <a href={`#/kept/${encodeURIComponent(`tool ${saved.name}`)}`}>Kept</a>.
        </p>
      )}
    </form>
  )
}
