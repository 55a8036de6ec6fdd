// Matching runs of the record, newest first; older ones are loaded on demand, new ones added in front.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Run } from '@sandbridge/core/observe/runs'
import type { RecordView } from '../../src/views/record.ts'
import { isWanted, newestFirst, rowOf, type RunFilter, type RunRow } from '@sandbridge/record/run-row.ts'
import { ask } from './api.ts'
import { useStore } from './store.ts'

export interface Filter {
  text: string
  server: string
  session: string
  status: string
  denied: boolean
  /** How far back, in milliseconds; 0 means everything. */
  backMs: number
}

export const NO_FILTER: Filter = { text: '', server: '', session: '', status: '', denied: false, backMs: 0 }

interface Loaded {
  runs: RunRow[]
  next: RecordView['next']
  isOff: boolean
}

export interface Runs {
  rows: RunRow[]
  isLoading: boolean
  /** Older runs may follow. */
  hasMore: boolean
  isOff: boolean
  error: string | undefined
  more: () => void
}

const TYPING_MS = 200

export function useRecord(filter: Filter): Runs {
  const store = useStore()
  const [loaded, setLoaded] = useState<Loaded>()
  const [error, setError] = useState<string>()
  const [isLoading, setLoading] = useState(true)
  const key = JSON.stringify([filter, store.connection === 'live'])
  const current = useRef(key)
  current.current = key
  const load = (before?: RecordView['next']): void => {
    setLoading(true)
    ask<RecordView>('record', paramsOf(filter, before))
      .then((view) => {
        if (current.current !== key) return
        setError(undefined)
        setLoaded((known) => ({
          runs: [...(before ? (known?.runs ?? []) : []), ...view.runs],
          next: view.next,
          isOff: before ? (known?.isOff ?? false) : view.isOff,
        }))
      })
      .catch((failure: Error) => setError(failure.message))
      .finally(() => current.current === key && setLoading(false))
  }
  useEffect(() => {
    const timer = setTimeout(load, TYPING_MS)
    return () => clearTimeout(timer)
  }, [key])
  const rows = withNew(loaded?.runs ?? [], store.cells(), filter)
  const hasMore = loaded?.next !== undefined
  const more = (): void => {
    if (!isLoading && loaded?.next) load(loaded.next)
  }
  return { rows, isLoading, hasMore, isOff: loaded?.isOff ?? false, error, more }
}

function askedFor({ text, server, session, status, denied, backMs }: Filter): RunFilter {
  return {
    ...(text.trim() !== '' && { text }),
    ...(server !== '' && { server }),
    ...(session !== '' && { session }),
    ...(status !== '' && { status }),
    ...(denied && { denied }),
    ...(backMs > 0 && { since: Date.now() - backMs }),
  }
}

function paramsOf(filter: Filter, before: RecordView['next']): Record<string, string> {
  const all = { ...askedFor(filter), ...(before && { beforeAt: before.at, beforeId: before.id }) }
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, String(value)]))
}

/** Adds runs since the list was read, from the page's state. */
function withNew(old: readonly RunRow[], cells: readonly Run[], filter: Filter): RunRow[] {
  const newer = new Map(cells.map((cell) => [cell.id, cell]))
  const known = new Set<string>()
  const updated: RunRow[] = []
  for (const row of old) {
    if (known.has(row.id)) continue
    known.add(row.id)
    const cell = newer.get(row.id)
    updated.push(cell ? { ...row, ...rowOf(cell) } : row)
  }
  const asked = askedFor(filter)
  const added = cells.filter((cell) => !known.has(cell.id) && isWanted(cell, asked))
  return [...added.map(rowOf), ...updated].toSorted(newestFirst)
}
