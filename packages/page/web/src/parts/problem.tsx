// Shows an error, also to a screen reader.
import type { JSX } from 'preact'

export function Problem({ text }: { text: string | undefined }): JSX.Element | null {
  if (!text) return null
  return (
    <p class="problem" role="alert">
      {text}
    </p>
  )
}
