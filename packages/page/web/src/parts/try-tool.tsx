// A form for a tool's schema. It runs a cell, so the call is bound by the same rules as a model's.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ToolDoc } from '@sandbridge/core/calls/catalog'
import type { Outcome } from '../../../src/views/notebook.ts'
import { visible, visibleInline } from '@sandbridge/core/util/text'
import { callCode } from '../python-text.ts'
import { useStore } from '../store.ts'
import { useSending } from '../use-sending.ts'
import { CellCard, CopyButton } from './cell-card.tsx'
import { Code } from './code.tsx'
import { argumentsOf, type Field, fieldsOf } from './tool-fields.ts'
import { Problem } from './problem.tsx'

export function TryTool({ doc }: { doc: ToolDoc }): JSX.Element {
  const fields = fieldsOf(doc.inputSchema)
  const [texts, setTexts] = useState<Record<string, string>>({})
  const [outcome, setOutcome] = useState<Outcome>()
  const { isSending, problem, setProblem, send } = useSending()
  const { args, wrong } = argumentsOf(fields, texts)
  const code = callCode(doc.serverAlias, doc.toolAlias, args)
  const run = (event: Event): void => {
    event.preventDefault()
    setProblem(wrong)
    if (wrong !== undefined) return
    setOutcome(undefined)
    send('notebook/run', { code }, setOutcome)
  }
  return (
    <form class="try" onSubmit={run}>
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          text={texts[field.name] ?? ''}
          onText={(text) => setTexts({ ...texts, [field.name]: text })}
        />
      ))}
      <Code code={code} label="The cell that calls it" />
      <div class="actions">
        <button type="submit" class="primary" disabled={isSending}>
          {isSending ? 'Calling…' : 'Call'}
        </button>
        <CopyButton text={code} label="Copy as a cell" />
      </div>
      <Problem text={problem} />
      {outcome && <Result outcome={outcome} code={code} />}
    </form>
  )
}

function Result({ outcome, code }: { outcome: Outcome; code: string }): JSX.Element | null {
  const cell = useStore()
    .cells()
    .find((one) => one.client === 'page' && one.number === outcome.cell && one.code === code)
  return cell ? <CellCard cell={cell} withCode={false} /> : null
}

interface FieldProps {
  field: Field
  text: string
  onText: (text: string) => void
}

function FieldInput({ field, text, onText }: FieldProps): JSX.Element {
  const { name, kind, choices, isRequired, description } = field
  const change = (event: { currentTarget: { value: string } }): void => onText(event.currentTarget.value)
  return (
    <label class="field">
      <span>
        {visibleInline(name)} <span class="muted">{isRequired ? kind : `${kind}, optional`}</span>
      </span>
      {choices ? (
        <select value={text} onChange={change}>
          <option value="">–</option>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {visibleInline(choice)}
            </option>
          ))}
        </select>
      ) : kind === 'JSON' ? (
        <textarea rows={2} value={text} onInput={change} spellcheck={false} />
      ) : (
        <input
          type="text"
          inputMode={kind === 'number' ? 'decimal' : 'text'}
          value={text}
          onInput={change}
          spellcheck={false}
        />
      )}
      {description && <span class="muted">{visible(description)}</span>}
    </label>
  )
}
