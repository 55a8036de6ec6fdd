// A list that draws only its visible rows: ten thousand rows cost as much as thirty.
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

interface VirtualListProps<T> {
  items: readonly T[]
  rowHeight: number
  label: string
  keyOf: (item: T) => string
  /** Called near the last row, to load more. */
  onEnd: () => void
  children: (item: T) => ComponentChildren
}

/** Rows drawn beyond the edges, so that scrolling shows no gaps. */
const MARGIN = 8

export function VirtualList<T>({ items, rowHeight, label, keyOf, onEnd, children }: VirtualListProps<T>): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(600)
  useLayoutEffect(() => {
    const watcher = new ResizeObserver(([entry]) => entry && setHeight(entry.contentRect.height))
    watcher.observe(box.current!)
    return () => watcher.disconnect()
  }, [])
  const first = Math.max(0, Math.floor(top / rowHeight) - MARGIN)
  const last = Math.min(items.length, Math.ceil((top + height) / rowHeight) + MARGIN)
  useEffect(() => {
    if (last === items.length) onEnd()
  })
  return (
    <div
      class="virtual"
      ref={box}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      <ul style={{ height: `${items.length * rowHeight}px` }}>
        {items.slice(first, last).map((item, index) => (
          <li
            key={keyOf(item)}
            class="row"
            aria-setsize={items.length}
            aria-posinset={first + index + 1}
            style={{ top: `${(first + index) * rowHeight}px`, height: `${rowHeight}px` }}
          >
            {children(item)}
          </li>
        ))}
      </ul>
    </div>
  )
}
