// Shows what the bridge says: a sentence, or an error, also to a screen reader.
import type { JSX } from 'preact'
import { visible } from '@sandbridge/core/util/text'

export function Problem({ text }: { text: string | undefined }): JSX.Element | null {
  if (!text) return null
  return (
    <p class="problem" role="alert">
      <Words text={text} />
    </p>
  )
}

/** A sentence of the bridge, with its `code` as such. */
export function Words({ text }: { text: string }): JSX.Element {
  const parts = visible(text).split(/`([^`\n]+)`/)
  return <>{parts.map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}</>
}
