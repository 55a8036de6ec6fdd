import { expect, it } from 'vitest'
import { NO_EVENTS } from '../../core/src/observe/events/event-stream.ts'
import { RunLog } from '../../core/src/observe/events/run-log.ts'
import { APP_TYPE } from '@sandbridge/core/parts'
import { SILENT } from '@sandbridge/core/util'
import { CatalogTool } from '@sandbridge/core/calls/catalog'
import { ServerApps } from './server-apps.ts'

const toolOf = (appUri: string) =>
  new CatalogTool('charts', 'charts', 'chart', { name: 'chart', inputSchema: { type: 'object' }, appUri })
const RESULT = { content: [] }

/** A session whose server sends these pages, or fails for a resource that is missing. */
function session(pages: Record<string, string>) {
  const read: string[] = []
  const apps = new ServerApps()
  const readResource = async (_: string, uri: string) => {
    read.push(uri)
    const text = pages[uri]
    if (text === undefined) throw new Error(`no ${uri}`)
    return { contents: [{ uri, mimeType: APP_TYPE, text }] }
  }
  /** One cell. */
  const cell = () => {
    const notes = new Set<string>()
    const caller = {
      events: NO_EVENTS,
      origin: { cell: 'c', log: new RunLog(SILENT, 'c'), session: 's' },
      permissions: undefined,
      flow: undefined,
      signal: AbortSignal.timeout(9_000),
    }
    const call = (uri: string) => apps.keep(toolOf(uri), {}, RESULT, { ...caller, upstreams: { readResource }, notes })
    return { notes, call }
  }
  return { apps, read, cell }
}

it('a tool that names another page than before has that one', async () => {
  const { apps, read, cell } = session({ 'ui://a': '<p>a', 'ui://b': '<p>b' })
  for (const uri of ['ui://a', 'ui://a', 'ui://b']) await cell().call(uri)
  expect([read, apps.find('charts.chart')?.html]).toEqual([['ui://a', 'ui://b'], '<p>b'])
})

it('a page that could not be read is asked for again by the next cell, and not by the same one', async () => {
  const pages: Record<string, string> = {}
  const { apps, read, cell } = session(pages)
  const first = cell()
  for (let call = 0; call < 3; call += 1) await first.call('ui://a')
  expect([read.length, [...first.notes]]).toEqual([1, ['charts.chart has an app, which cannot be shown: no ui://a']])
  pages['ui://a'] = '<p>a'
  await first.call('ui://a')
  expect(apps.find('charts.chart')).toBeUndefined()
  await cell().call('ui://a')
  expect([read.length, apps.find('charts.chart')?.html]).toEqual([2, '<p>a'])
})
