// One version of a stored item: file or image, function with its source, workflow with parameters and calls.
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { SavedTool, WorkflowDetails } from '@sandbridge/memories/saved/saved-tool.ts'
import { count, visible, visibleInline } from '@sandbridge/core/util/text'
import { useAnswer } from '../use-answer.ts'
import { bytes } from '../words.ts'
import { Code } from './code.tsx'
import { Printed } from './output.tsx'
import { Choice, type Fact, Facts } from './view.tsx'

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
          <Choice
            label="Version"
            value={String(version)}
            options={versions.toReversed().map((one) => [String(one), String(one)])}
            onChange={(one) => setChosen(Number(one))}
          />
        )}
      </header>
      {error && <p class="problem">{error}</p>}
      {value?.description && <p>{visible(value.description)}</p>}
      {value && <Facts of={factsOf(value)} />}
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

function factsOf({ createdAt, servers = [], workflow }: Opened): Fact[] {
  const saved: Fact[] = [
    ['Saved', createdAt && new Date(createdAt).toLocaleString('sv')],
    ['Servers', visibleInline(servers.map((one) => one.name).join(', '))],
  ]
  if (!workflow) return saved
  const { title, parameters, packages, uses } = workflow
  const changing = uses.filter(({ readOnly }) => !readOnly).length
  const calls = visibleInline(uses.map(({ server, tool }) => `${server}.${tool}`).join(', '))
  return [
    ...saved,
    ['Runs with', <code>sandbridge run-workflow {title}</code>],
    ['Parameters', parameters.map(parameterText).map(visibleInline).join(', ')],
    ['Packages', visibleInline(packages.join(', '))],
    ['Calls', changing > 0 ? `${calls} (${count(changing, 'tool')} may change something)` : calls],
  ]
}

function parameterText({ name, type, required, default: given }: WorkflowDetails['parameters'][number]): string {
  const typed = type === '' ? name : `${name}: ${type}`
  return required || given === undefined ? typed : `${typed} = ${JSON.stringify(given)}`
}
