// Selects whose servers the page shows and uses, where clients of several folders share the bridge.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { PageFolders } from '../../../src/routes.ts'
import { visibleInline } from '@sandbridge/core/util/text'
import { tell } from '../api.ts'
import { useAnswer } from '../use-answer.ts'
import { Problem } from './problem.tsx'

/** Shows nothing where there is no choice. @param onChange called when the choice counts */
export function FolderChoice({ onChange }: { onChange: () => void }): JSX.Element | null {
  const [changes, setChanges] = useState(0)
  const [problem, setProblem] = useState<string>()
  const { value } = useAnswer<PageFolders>('folders', {}, changes)
  if (value?.folder === undefined || value.folders.length < 2) return null
  const change = (event: { currentTarget: { value: string } }): void => {
    tell('folder', { folder: event.currentTarget.value })
      .then(
        () => (setProblem(undefined), onChange()),
        (failure: Error) => setProblem(failure.message),
      )
      .finally(() => setChanges(changes + 1))
  }
  return (
    <>
      <label class="choice">
        Folder{' '}
        <select value={value.folder} onChange={change}>
          {value.folders.map((folder) => (
            <option key={folder} value={folder}>
              {visibleInline(folder)}
            </option>
          ))}
        </select>
      </label>
      <Problem text={problem} />
    </>
  )
}
