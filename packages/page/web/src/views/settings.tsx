// Settings with their values and places. Not changed here: they decide what cells may do, and pages stay open.
import type { JSX } from 'preact'
import type { DescribedSetting, DescribedSettings } from '@sandbridge/shared/describe-settings.ts'
import { visibleInline } from '@sandbridge/core/util/text'
import { Words } from '../parts/problem.tsx'
import { Table, View } from '../parts/view.tsx'
import { POLLED, useAnswer } from '../use-answer.ts'

export function Settings(): JSX.Element {
  const { value: known, error } = useAnswer<DescribedSettings>('settings', {}, POLLED)
  const settings = known?.settings ?? []
  const headings = [...new Set(settings.map(({ heading }) => heading))]
  return (
    <View title="Settings" about={known && visibleInline(known.file)} error={error}>
      {known && (
        <p class="hint">
          Change one: <code>sandbridge config NAME VALUE</code>
        </p>
      )}
      {(known?.warnings ?? []).map((warning) => (
        <p key={warning} class="notice">
          <Words text={warning} />
        </p>
      ))}
      {headings.map((heading) => (
        <section key={heading}>
          <h2>{heading}</h2>
          <Group settings={settings.filter((one) => one.heading === heading)} />
        </section>
      ))}
    </View>
  )
}

function Group({ settings }: { settings: readonly DescribedSetting[] }): JSX.Element {
  return (
    <Table look="settings" head={['Setting', 'Value', 'From']}>
      {settings.map(({ name, variable, meaning, allowed, value, source, place, onlyVariable }) => (
        <tr key={name} title={`${meaning} Allowed: ${allowed}. Variable: ${variable}`}>
          <th scope="row">{onlyVariable === undefined ? name : variable}</th>
          <td class={source === 'default' ? 'muted' : ''}>{visibleInline(value)}</td>
          <td>{visibleInline(place ?? source)}</td>
        </tr>
      ))}
    </Table>
  )
}
