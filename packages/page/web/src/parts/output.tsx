// Shows a cell's output: text and images.
import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { plainText, visible } from '@sandbridge/core/util/text'
import type { Run, Shown } from '@sandbridge/core/observe/runs'
import { short } from '../words.ts'

/** Characters drawn at first; the rest on request. */
const FIRST_CHARS = 20_000

export function Output({ cell }: { cell: Run }): JSX.Element | null {
  if (cell.parts.length === 0 && cell.dropped === 0 && !cell.value) return null
  return (
    <div class="output">
      {cell.parts.map((part) =>
        part.kind === 'display' ? <ShownValue shown={part.shown} /> : <Printed text={part.text} kind={part.kind} />,
      )}
      {cell.dropped > 0 && <p class="note">{short(cell.dropped)} more characters are not shown.</p>}
      {cell.value && <ShownValue shown={cell.value} isValue />}
    </div>
  )
}

export function Printed({ text, kind }: { text: string; kind: string }): JSX.Element {
  const [isWhole, setWhole] = useState(false)
  const clean = useMemo(() => visible(plainText(text)), [text])
  const isLong = clean.length > FIRST_CHARS && !isWhole
  return (
    <>
      <pre class={kind} tabIndex={0} role="group" aria-label={kind === 'stderr' ? 'Errors printed' : 'Printed'}>
        {isLong ? clean.slice(0, FIRST_CHARS) : clean}
      </pre>
      {isLong && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          Show {short(clean.length - FIRST_CHARS)} more characters
        </button>
      )}
    </>
  )
}

function ShownValue({ shown, isValue = false }: { shown: Shown; isValue?: boolean }): JSX.Element | null {
  const { image, text } = shown
  if (image)
    return (
      <img src={`data:${image.type};base64,${image.data}`} alt={text ? visible(text) : 'Picture shown by the cell'} />
    )
  return text === undefined ? null : <Printed text={text} kind={isValue ? 'value' : 'stdout'} />
}
