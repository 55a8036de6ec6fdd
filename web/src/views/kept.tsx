// Kept: the files and functions that cells have saved.
import type { JSX } from 'preact'
import { visible, visibleInline } from '../../../src/text/visible.ts'
import type { KeptView } from '../../../src/ui/kept.ts'
import { Code } from '../parts/code.tsx'
import { Printed } from '../parts/output.tsx'
import { useStore } from '../store.ts'
import { useAnswer } from '../use-answer.ts'
import { bytes, plural } from '../words.ts'

interface Opened {
  text?: string
  image?: { type: string; data: string }
  source?: string
  contentType?: string
}

/** @param id `artifact NAME` or `tool NAME` */
export function Kept({ id }: { id: string | undefined }): JSX.Element {
  const finished = useStore()
    .cells()
    .filter(({ status }) => status !== 'running').length
  const { value, error } = useAnswer<KeptView>('kept', {}, finished)
  const { artifacts = [], tools = [], broken = [] } = value ?? {}
  const [kind, name] = id === undefined ? [] : [id.slice(0, id.indexOf(' ')), id.slice(id.indexOf(' ') + 1)]
  return (
    <>
      <header class="view-head">
        <h1>Kept</h1>
        <p class="muted">
          {plural(artifacts.length, 'file')} · {plural(tools.length, 'saved tool')}
        </p>
      </header>
      {error && (
        <p class="problem" role="alert">
          {error}
        </p>
      )}
      {value && artifacts.length + tools.length === 0 && (
        <div class="empty">
          <h2>Nothing is kept yet</h2>
          <p>
            Cells keep files with <code>save_artifact</code> and functions with <code>save_tool</code>.
          </p>
        </div>
      )}
      <div class={`split ${id === undefined ? '' : 'chosen'}`}>
        <ul class="list" aria-label="Kept files and tools">
          {artifacts.map((one) => (
            <li key={`artifact ${one.name}`}>
              <Item
                id={`artifact ${one.name}`}
                current={id}
                title={one.name}
                text={`${bytes(one.sizeBytes)} · ${one.contentType} · version ${one.version}`}
              />
            </li>
          ))}
          {tools.map((one) => (
            <li key={`tool ${one.name}`}>
              <Item
                id={`tool ${one.name}`}
                current={id}
                title={`${one.name}${one.signature}`}
                text={`${one.summary} · version ${one.version}`}
              />
            </li>
          ))}
          {broken.map((one) => (
            <li key={`broken ${one.name}`} class="item">
              <strong>{visibleInline(one.name)}</strong>
              <span class="status bad">broken</span>
              <span class="muted">{visibleInline(one.problem)}</span>
            </li>
          ))}
        </ul>
        {kind !== undefined && name !== undefined && <Preview key={id} kind={kind} name={name} />}
      </div>
    </>
  )
}

function Item({
  id,
  current,
  title,
  text,
}: {
  id: string
  current: string | undefined
  title: string
  text: string
}): JSX.Element {
  return (
    <a class="item" href={`#/kept/${encodeURIComponent(id)}`} aria-current={id === current ? 'true' : undefined}>
      <strong>{visibleInline(title)}</strong>
      <span class="muted line">{visibleInline(text)}</span>
    </a>
  )
}

function Preview({ kind, name }: { kind: string; name: string }): JSX.Element {
  const { value, error } = useAnswer<Opened>(kind === 'tool' ? 'tool' : 'artifact', { name })
  return (
    <section class="details" aria-label={name}>
      <a class="back" href="#/kept">
        All that is kept
      </a>
      <h2>{visibleInline(name)}</h2>
      {error && <p class="problem">{error}</p>}
      {value?.image && <img src={`data:${value.image.type};base64,${value.image.data}`} alt={visible(name)} />}
      {value?.source !== undefined && <Code code={value.source} label="Source" />}
      {value?.text !== undefined && <Printed text={value.text} kind="stdout" />}
      {value && !value.image && value.source === undefined && value.text === undefined && (
        <p class="hint">There is no preview of this type: {visibleInline(value.contentType ?? '')}</p>
      )}
    </section>
  )
}
