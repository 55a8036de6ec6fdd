// @module-tag whole: it runs published servers
// Runs against the published reference servers over stdio.
import { realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { open, published, textOf } from './support.ts'
import { newFolder } from '../support/machine/new-folder.ts'

async function temporaryFolder(): Promise<string> {
  const folder = await realpath(newFolder())
  return folder
}

it('the published server "everything" has tools, structured results, images, progress and cancellation', async () => {
  const upstreams = open([published('everything')])
  const names = (await upstreams.listTools('everything')).map((tool) => tool.name)
  expect(names).toEqual(expect.arrayContaining(['echo', 'get-sum', 'get-structured-content']))
  expect(textOf(await upstreams.callTool('everything', 'get-sum', { a: 2, b: 3 }))).toContain('5')
  const weather = await upstreams.callTool('everything', 'get-structured-content', { location: 'New York' })
  expect(weather.structuredContent).toMatchObject({ temperature: expect.any(Number) })
  const image = await upstreams.callTool('everything', 'get-tiny-image', {})
  expect(image.content).toContainEqual(expect.objectContaining({ type: 'image', mimeType: 'image/png' }))
  expect(upstreams.of('everything').instructions).toMatch(/\w/)

  const progress: number[] = []
  const abort = new AbortController()
  const call = upstreams.callTool(
    'everything',
    'trigger-long-running-operation',
    { duration: 600, steps: 6000 },
    {
      signal: abort.signal,
      onProgress: (step) => {
        progress.push(step.progress)
        if (progress.length === 3) abort.abort()
      },
    },
  )
  await expect(call).rejects.toMatchObject({ code: 'CANCELLED' })
  expect(progress).toEqual([1, 2, 3])
})

it('a result with isError is returned as a result', async () => {
  const upstreams = open([published('everything')])
  const result = await upstreams.callTool('everything', 'get-sum', { a: 'not a number' })
  expect(result.isError).toBe(true)
})

it('the published server "filesystem" reads a file below its folder and refuses one elsewhere', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'note.txt'), 'hello')
  const upstreams = open([published('filesystem', folder)])
  const read = (path: string) => upstreams.callTool('filesystem', 'read_text_file', { path })
  expect(textOf(await read(join(folder, 'note.txt')))).toBe('hello')
  expect(await read('/etc/hostname')).toMatchObject({ isError: true })
})

it('the published server "memory" keeps its state between calls, since one process serves them all', async () => {
  const folder = await temporaryFolder()
  const definition = published('memory')
  Object.assign(definition.transport, { env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') } })
  const upstreams = open([definition])
  const entity = { name: 'Ada', entityType: 'person', observations: ['writes programs'] }
  await upstreams.callTool('memory', 'create_entities', { entities: [entity] })
  expect(textOf(await upstreams.callTool('memory', 'search_nodes', { query: 'Ada' }))).toContain('writes programs')
})
