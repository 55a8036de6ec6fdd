// Python with highlighting, as text: nothing of it becomes part of the page.
import { pythonLanguage } from '@codemirror/lang-python'
import { classHighlighter, highlightCode } from '@lezer/highlight'
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { visible } from '../../../src/text/visible.ts'

/** A longer one is shown without colours. */
const MAX_COLOURED = 20_000

export function Code({ code, label = 'Code' }: { code: string; label?: string }): JSX.Element {
  const shown = useMemo(() => coloured(visible(code)), [code])
  return (
    <pre class="code" tabIndex={0} role="region" aria-label={label}>
      <code>{shown}</code>
    </pre>
  )
}

export function coloured(code: string): (JSX.Element | string)[] {
  if (code.length > MAX_COLOURED) return [code]
  const parts: (JSX.Element | string)[] = []
  highlightCode(
    code,
    pythonLanguage.parser.parse(code),
    classHighlighter,
    (text, classes) => parts.push(classes ? <span class={classes}>{text}</span> : text),
    () => parts.push('\n'),
  )
  return parts
}
