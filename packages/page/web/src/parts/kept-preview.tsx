// Previews one version of a stored item: a file as text or image, a function with its source, a workflow with its
// parameters and calls.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { SavedTool, WorkflowDetails } from '@sandbridge/core/keep/saved'
import { visible, visibleInline } from '@sandbridge/core/util/text'
import { useAnswer } from '../use-answer.ts'
import { bytes, plural } from '../words.ts'
import { Code } from './code.tsx'
import { Printed } from './output.tsx'

interface Opened extends Partial<SavedTool> {
  text?: string
  /** Of `sizeBytes`, where `text` is the beginning. */
  shownBytes?: number
  sizeBytes?: number
  image?: { type: string; data: string }
  contentType?: string
}

interface KeptPreviewProps {
  /** `artifact` or `tool` */
  kind: string
  name: string
  /** Oldest first. */
  versions: readonly number[]
}

export function KeptPreview({ kind, name, versions }: KeptPreviewProps): JSX.Element {
  const [chosen, setChosen] = useState<number>()
  const version = chosen ?? versions.at(-1)
  const params = { name, ...(version !== undefined && { version: String(version) }) }
  const { value, error } = useAnswer<Opened>(kind === 'tool' ? 'tool' : 'artifact', params)
  return (
    <section class="details" aria-label={name}>
      <a class="back" href="#/kept">
        All that is kept
      </a>
      <header>
        <h2>{visibleInline(value?.workflow?.title ?? name)}</h2>
        <span class="spacer" />
        {versions.length > 1 && (
          <label class="choice">
            Version{' '}
            <select value={version} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
              {versions.toReversed().map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </select>
          </label>
        )}
      </header>
      {error && <p class="problem">{error}</p>}
      {value && <Facts value={value} />}
      {value?.image && <img src={`data:${value.image.type};base64,${value.image.data}`} alt={visible(name)} />}
      {value?.source !== undefined && <Code code={sourceOf(value)} label="Source" />}
      {value?.shownBytes !== undefined && (
        <p class="note">
          The first {bytes(value.shownBytes)} of {bytes(value.sizeBytes ?? 0)}. <code>sandbridge artifacts</code> has
          the whole file.
        </p>
      )}
      {value?.text !== undefined && <Printed text={value.text} kind="stdout" />}
      {value && !value.image && value.source === undefined && value.text === undefined && (
        <p class="hint">There is no preview of this type: {visibleInline(value.contentType ?? '')}</p>
      )}
    </section>
  )
}

function sourceOf({ imports = [], source = '' }: Opened): string {
  return imports.length > 0 ? `${imports.join('\n')}\n\n\n${source}` : source
}

function Facts({ value }: { value: Opened }): JSX.Element {
  const { createdAt, description, servers = [], workflow } = value
  return (
    <>
      {description && <p>{visible(description)}</p>}
      <dl class="facts">
        {createdAt !== undefined && (
          <>
            <dt>Saved</dt>
            <dd>{new Date(createdAt).toLocaleString('sv')}</dd>
          </>
        )}
        {servers.length > 0 && (
          <>
            <dt>Servers</dt>
            <dd>{visibleInline(servers.map((one) => one.name).join(', '))}</dd>
          </>
        )}
        {workflow && <WorkflowFacts workflow={workflow} />}
      </dl>
    </>
  )
}

function WorkflowFacts({ workflow }: { workflow: WorkflowDetails }): JSX.Element {
  const { title, parameters, packages, uses } = workflow
  const changing = uses.filter(({ readOnly }) => !readOnly).length
  return (
    <>
      <dt>Runs with</dt>
      <dd>
        <code>sandbridge run-workflow {title}</code>
      </dd>
      {parameters.length > 0 && (
        <>
          <dt>Parameters</dt>
          <dd>{parameters.map(parameterText).map(visibleInline).join(', ')}</dd>
        </>
      )}
      {packages.length > 0 && (
        <>
          <dt>Packages</dt>
          <dd>{visibleInline(packages.join(', '))}</dd>
        </>
      )}
      {uses.length > 0 && (
        <>
          <dt>Calls</dt>
          <dd>
            {visibleInline(uses.map(({ server, tool }) => `${server}.${tool}`).join(', '))}
            {changing > 0 && ` (${plural(changing, 'tool')} may change something)`}
          </dd>
        </>
      )}
    </>
  )
}

function parameterText({ name, type, required, default: given }: WorkflowDetails['parameters'][number]): string {
  const typed = type === '' ? name : `${name}: ${type}`
  return required || given === undefined ? typed : `${typed} = ${JSON.stringify(given)}`
}
