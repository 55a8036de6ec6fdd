// Selects where the notebook's cells run: in the page's own session or in a conversation's.
import type { JSX } from 'preact'
import { visibleInline } from '@sandbridge/core/util/text'
import { PAGE } from '@sandbridge/core/observe/runs'
import { store } from '../store.ts'
import { plural } from '../words.ts'

export interface ChosenSession {
  id: string
}

interface SessionChoiceProps {
  chosen: ChosenSession | undefined
  /** @param session undefined means the page's own */
  onChange: (session: ChosenSession | undefined) => void
}

export function SessionChoice({ chosen, onChange }: SessionChoiceProps): JSX.Element {
  const sessions = sharedSessions()
  const change = (event: { currentTarget: { value: string } }): void =>
    onChange(sessions.find(({ id }) => id === event.currentTarget.value))
  return (
    <label class="choice">
      Session{' '}
      <select value={chosen?.id ?? ''} onChange={change}>
        <option value="">of this page</option>
        {sessions.map(({ id, title }) => (
          <option key={id} value={id}>
            {visibleInline(title)}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Sessions of conversations, newest first. */
export function sharedSessions(): (ChosenSession & { title: string })[] {
  return [...store.state.sessions.values()]
    .filter(({ ended, client }) => !ended && client !== PAGE && client !== '')
    .map(({ id, client, cellCount, at }) => ({ id, at, title: `${client}: ${plural(cellCount, 'cell')}` }))
    .toSorted((a, b) => b.at - a.at)
}
