// Kept: files, functions and workflows that cells have saved.
import type { JSX } from 'preact'
import { count, visibleInline } from '@sandbridge/core/util/text'
import type { KeptView } from '../../../src/views/kept.ts'
import { KeptPreview } from '../parts/kept-preview.tsx'
import { useStore } from '../store.ts'
import { useAnswer } from '../use-answer.ts'
import { bytes } from '../words.ts'
import { Empty, View } from '../parts/view.tsx'

/** @param id `artifact NAME` or `tool NAME` */
export function Kept({ id }: { id: string | undefined }): JSX.Element {
  const finished = useStore()
    .cells()
    .filter(({ status }) => status !== 'running').length
  const { value, error } = useAnswer<KeptView>('kept', {}, { after: finished })
  const { artifacts = [], tools = [], broken = [] } = value ?? {}
  const workflows = tools.filter(({ title }) => title !== undefined)
  const functions = tools.filter(({ title }) => title === undefined)
  const [kind, name] = id === undefined ? [] : [id.slice(0, id.indexOf(' ')), id.slice(id.indexOf(' ') + 1)]
  const known = [...(kind === 'tool' ? tools : artifacts)].find((one) => one.name === name)
  const toolItem = (one: KeptView['tools'][number]): JSX.Element => {
    const title = one.title ?? `${one.name}${one.signature}`
    return (
      <Item key={one.name} id={`tool ${one.name}`} current={id} title={title} texts={[one.summary, versionText(one)]} />
    )
  }
  const counts = [
    count(artifacts.length, 'file'),
    count(functions.length, 'saved tool'),
    count(workflows.length, 'workflow'),
  ]
  return (
    <View title="Kept" about={counts.join(' · ')} error={error}>
      {value && artifacts.length + tools.length + broken.length === 0 && (
        <Empty title="Nothing is kept yet">
          <p>
            Cells keep files with <code>save_artifact</code>, functions with <code>save_tool</code> and workflows with{' '}
            <code>save_workflow</code>.
          </p>
        </Empty>
      )}
      <div class={`split ${id === undefined ? '' : 'chosen'}`}>
        <div>
          <Group title="Files">
            {artifacts.map((one) => (
              <Item
                key={one.name}
                id={`artifact ${one.name}`}
                current={id}
                title={one.name}
                texts={[bytes(one.sizeBytes), one.contentType, versionText(one)]}
              />
            ))}
          </Group>
          <Group title="Saved tools">{functions.map(toolItem)}</Group>
          <Group title="Workflows">{workflows.map(toolItem)}</Group>
          <Group title="Broken">
            {broken.map((one) => (
              <li key={one.name} class="item">
                <strong>{visibleInline(one.name)}</strong>
                <span class="status bad">broken</span>
                <span class="muted">{visibleInline(one.problem)}</span>
              </li>
            ))}
          </Group>
        </div>
        {kind !== undefined && name !== undefined && (
          <KeptPreview key={id} kind={kind} name={name} versions={known?.versions ?? []} />
        )}
      </div>
    </View>
  )
}

function versionText({ version, versions }: { version: number; versions: number[] }): string {
  return versions.length > 1 ? count(versions.length, 'version') : `version ${version}`
}

function Group({ title, children }: { title: string; children: JSX.Element[] }): JSX.Element | null {
  if (children.length === 0) return null
  return (
    <section aria-label={title}>
      <h2 class="group">{title}</h2>
      <ul class="list" aria-label={title}>
        {children}
      </ul>
    </section>
  )
}

interface ItemProps {
  id: string
  current: string | undefined
  title: string
  texts: string[]
}

function Item({ id, current, title, texts }: ItemProps): JSX.Element {
  return (
    <li>
      <a class="item" href={`#/kept/${encodeURIComponent(id)}`} aria-current={id === current ? 'true' : undefined}>
        <strong>{visibleInline(title)}</strong>
        <span class="muted line">{visibleInline(texts.filter(Boolean).join(' · '))}</span>
      </a>
    </li>
  )
}
