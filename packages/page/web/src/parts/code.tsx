// Shows highlighted Python as text: none of it is interpreted as HTML.
import { pythonLanguage } from '@codemirror/lang-python'
import { classHighlighter, highlightCode } from '@lezer/highlight'
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { visible } from '@sandbridge/core/util/text'

/** Longer code is not highlighted. */
const MAX_COLOURED = 20_000

export function Code({ code, label = 'Code' }: { code: string; label?: string }): JSX.Element {
  const shown = useMemo(() => coloured(visible(code)), [code])
  return (
    <pre class="code" tabIndex={0} role="group" aria-label={label}>
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
