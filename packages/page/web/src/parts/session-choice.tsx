// Selects where the notebook's cells run: in the page's own session or in a conversation's.
import type { JSX } from 'preact'
import { count, visibleInline } from '@sandbridge/core/util/text'
import { PAGE } from '@sandbridge/core/observe/runs'
import { store } from '../store.ts'
import { Choice } from './view.tsx'

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
  const options = sessions.map(({ id, title }): [string, string] => [id, visibleInline(title)])
  return (
    <Choice
      label="Session"
      value={chosen?.id ?? ''}
      options={[['', 'of this page'], ...options]}
      onChange={(id) => onChange(sessions.find((one) => one.id === id))}
    />
  )
}

/** Sessions of conversations, newest first. */
export function sharedSessions(): (ChosenSession & { title: string })[] {
  return [...store.state.sessions.values()]
    .filter(({ ended, client }) => !ended && client !== PAGE && client !== '')
    .map(({ id, client, cellCount, at }) => ({ id, at, title: `${client}: ${count(cellCount, 'cell')}` }))
    .toSorted((a, b) => b.at - a.at)
}
