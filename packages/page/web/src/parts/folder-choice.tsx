// Selects whose servers the page shows and uses, where clients of several folders share the bridge.
import type { JSX } from 'preact'
import type { PageFolders } from '../../../src/routes.ts'
import { visibleInline } from '@sandbridge/core/util/text'
import { useAnswer } from '../use-answer.ts'
import { useSending } from '../use-sending.ts'
import { Problem } from './problem.tsx'
import { Choice } from './view.tsx'

/** Shows nothing where there is no choice. @param onChange called when the choice counts */
export function FolderChoice({ onChange }: { onChange: () => void }): JSX.Element | null {
  const { isSending, problem, send } = useSending()
  const { value } = useAnswer<PageFolders>('folders', {}, isSending)
  if (value?.folder === undefined || value.folders.length < 2) return null
  const options = value.folders.map((folder): [string, string] => [folder, visibleInline(folder)])
  const choose = (folder: string): void => send('folder', { folder }, onChange)
  return (
    <>
      <Choice label="Folder" value={value.folder} options={options} onChange={choose} />
      <Problem text={problem} />
    </>
  )
}
