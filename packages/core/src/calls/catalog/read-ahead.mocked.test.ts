import { readFileSync } from 'node:fs'
import { expect, it, vi } from 'vitest'
import { forgetfulStore } from '../../../test/support/servers/forgetful-store.ts'
import { createLog } from '../../util/log.ts'
import { Catalog } from './catalog.ts'

vi.mock('node:fs', { spy: true })

const vectorReads = () => vi.mocked(readFileSync).mock.calls.filter(([file]) => String(file).endsWith('.i4')).length

it('the word vectors are read once, ahead of the first search, and not with the catalog', async () => {
  const catalog = new Catalog({
    definitions: [
      {
        name: 'mail',
        transport: { type: 'stdio', command: 'mail', args: [], env: {} },
        source: { client: 'test', file: 'test' },
      },
    ],
    listTools: () => Promise.resolve({ tools: [{ name: 'send_message' }, { name: 'delete_folder' }] }),
    store: forgetfulStore(),
    log: createLog('error'),
  })
  expect(vectorReads()).toBe(0)
  await catalog.readAhead()
  expect(vectorReads()).toBe(1)
  expect((await catalog.search('emailing somebody', { limit: 1 }))[0]?.tool).toBe('send_message')
  expect(vectorReads()).toBe(1)
})
