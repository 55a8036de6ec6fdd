// What views have: heading, error, a place without content, a table, a list of facts, a choice.
import type { ComponentChildren, JSX } from 'preact'
import { Problem } from './problem.tsx'

interface ViewProps {
  title: string
  about?: ComponentChildren
  /** Beside the title. */
  choice?: JSX.Element
  error?: string | undefined
  children: ComponentChildren
}

export function View({ title, about, choice, error, children }: ViewProps): JSX.Element {
  return (
    <>
      <header class="view-head">
        <h1>{title}</h1>
        {choice}
        <p class="muted">{about}</p>
      </header>
      <Problem text={error} />
      {children}
    </>
  )
}

export function Empty({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

interface TableProps {
  head: string[]
  look?: string
  children: ComponentChildren
}

export function Table({ head, look, children }: TableProps): JSX.Element {
  const titles = head.map((title) => (
    <th key={title} scope="col">
      {title}
    </th>
  ))
  return (
    <table class={look}>
      <thead>
        <tr>{titles}</tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}

/** A fact without a value is left out. */
export type Fact = [name: string, value: ComponentChildren, look?: string]

export function Facts({ of, look = 'facts', label }: { of: Fact[]; look?: string; label?: string }): JSX.Element {
  return (
    <dl class={look} aria-label={label}>
      {of
        .filter(([, value]) => value)
        .map(([name, value, tone]) => (
          <>
            <dt class={tone}>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
    </dl>
  )
}

interface ChoiceProps {
  label: string
  /** For screen readers only. */
  isUnseen?: boolean
  value: string
  options: [value: string, words: string][]
  onChange: (value: string) => void
}

export function Choice({ label, isUnseen = false, value, options, onChange }: ChoiceProps): JSX.Element {
  return (
    <label class={isUnseen ? '' : 'choice'}>
      <span class={isUnseen ? 'unseen' : ''}>{label}</span>{' '}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
    </label>
  )
}
