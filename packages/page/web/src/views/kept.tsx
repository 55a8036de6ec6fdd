// Kept: files, functions and workflows that cells have saved.
import type { JSX } from 'preact'
import { visibleInline } from '@sandbridge/core/util/text'
import type { KeptView } from '../../../src/views/kept.ts'
import { KeptPreview } from '../parts/kept-preview.tsx'
import { useStore } from '../store.ts'
import { useAnswer } from '../use-answer.ts'
import { bytes, plural } from '../words.ts'
import { Problem } from '../parts/problem.tsx'

/** @param id `artifact NAME` or `tool NAME` */
export function Kept({ id }: { id: string | undefined }): JSX.Element {
  const finished = useStore()
    .cells()
    .filter(({ status }) => status !== 'running').length
  const { value, error } = useAnswer<KeptView>('kept', {}, finished)
  const { artifacts = [], tools = [], broken = [] } = value ?? {}
  const workflows = tools.filter(({ title }) => title !== undefined)
  const functions = tools.filter(({ title }) => title === undefined)
  const [kind, name] = id === undefined ? [] : [id.slice(0, id.indexOf(' ')), id.slice(id.indexOf(' ') + 1)]
  const known = [...(kind === 'tool' ? tools : artifacts)].find((one) => one.name === name)
  return (
    <>
      <header class="view-head">
        <h1>Kept</h1>
        <p class="muted">
          {plural(artifacts.length, 'file')} · {plural(functions.length, 'saved tool')} ·{' '}
          {plural(workflows.length, 'workflow')}
        </p>
      </header>
      <Problem text={error} />
      {value && artifacts.length + tools.length + broken.length === 0 && (
        <div class="empty">
          <h2>Nothing is kept yet</h2>
          <p>
            Cells keep files with <code>save_artifact</code>, functions with <code>save_tool</code> and workflows with{' '}
            <code>save_workflow</code>.
          </p>
        </div>
      )}
      <div class={`split ${id === undefined ? '' : 'chosen'}`}>
        <div>
          <Group title="Files" count={artifacts.length}>
            {artifacts.map((one) => (
              <Item
                key={one.name}
                id={`artifact ${one.name}`}
                current={id}
                title={one.name}
                text={`${bytes(one.sizeBytes)} · ${one.contentType} · ${versionText(one)}`}
              />
            ))}
          </Group>
          <Group title="Saved tools" count={functions.length}>
            {functions.map((one) => (
              <Item
                key={one.name}
                id={`tool ${one.name}`}
                current={id}
                title={`${one.name}${one.signature}`}
                text={[one.summary, versionText(one)].filter(Boolean).join(' · ')}
              />
            ))}
          </Group>
          <Group title="Workflows" count={workflows.length}>
            {workflows.map((one) => (
              <Item
                key={one.name}
                id={`tool ${one.name}`}
                current={id}
                title={one.title ?? one.name}
                text={[one.summary, versionText(one)].filter(Boolean).join(' · ')}
              />
            ))}
          </Group>
          <Group title="Broken" count={broken.length}>
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
    </>
  )
}

function versionText({ version, versions }: { version: number; versions: number[] }): string {
  return versions.length > 1 ? plural(versions.length, 'version') : `version ${version}`
}

function Group({
  title,
  count,
  children,
}: {
  title: string
  count: number
  children: JSX.Element[]
}): JSX.Element | null {
  if (count === 0) return null
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
  text: string
}

function Item({ id, current, title, text }: ItemProps): JSX.Element {
  return (
    <li>
      <a class="item" href={`#/kept/${encodeURIComponent(id)}`} aria-current={id === current ? 'true' : undefined}>
        <strong>{visibleInline(title)}</strong>
        <span class="muted line">{visibleInline(text)}</span>
      </a>
    </li>
  )
}
