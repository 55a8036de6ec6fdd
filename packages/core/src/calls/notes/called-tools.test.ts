import { expect, it } from 'vitest'
import { CatalogTool } from '../catalog/model/catalog-tool.ts'
import { CalledTools } from './called-tools.ts'

const tool = (name: string, annotations?: object) =>
  new CatalogTool('hub', 'hub', name, { name, ...(annotations && { annotations }) })

it('a call that began and has no answer is cut off, whatever other calls of its tool did', () => {
  const called = new CalledTools()
  const [create, send, failed] = [tool('create'), tool('send'), tool('failed')]
  for (let n = 0; n < 3; n += 1) called.begun(create)
  called.answered(create, false)
  for (const one of [send, failed]) called.begun(one)
  called.answered(send, false)
  called.answered(failed, true)
  expect(called.cutOff()).toBe('Cut off, may or may not have taken effect: hub.create (2 times).')
  expect(called.beforeError()).toBe('Called before the error, and not undone: hub.create, hub.send.')
})

it('a tool that reads by its name counts as changing where its server or another word of it says so', () => {
  const called = new CalledTools()
  for (const one of [tool('get_or_create_user'), tool('find_and_delete'), tool('list_all', { readOnlyHint: false })])
    called.begun(one)
  expect(called.cutOff()).toContain('hub.get_or_create_user, hub.find_and_delete, hub.list_all')
})

it('calls that were refused or failed are told of a cell that ended well', () => {
  const called = new CalledTools()
  const [create, send] = [tool('create'), tool('send')]
  for (let n = 0; n < 3; n += 1) called.begun(create)
  for (const isError of [true, false, true]) called.answered(create, isError)
  expect(called.notDone()).toBe('2 calls failed: hub.create (2 times)')
  called.refused(send)
  expect(called.notDone()).toBe('1 call refused: hub.send; 2 calls failed: hub.create (2 times)')
  expect(new CalledTools().notDone()).toBeUndefined()
  expect(called.isTold('anything')).toBe(false)
  for (const message of ['hub.send is denied', 'no such id']) called.threw(message)
  expect(called.isTold('Error: hub.send is denied')).toBe(false)
  expect(called.isTold('Error: hub.send is denied\nno such id!')).toBe(true)
})

it('read-only tools are left out, and many tools are counted', () => {
  const called = new CalledTools()
  for (const one of [tool('look', { readOnlyHint: true }), tool('list_issues'), tool('getUser'), tool('read-file')])
    called.begun(one)
  expect(called.cutOff()).toBeUndefined()
  for (let n = 0; n < 10; n += 1) called.begun(tool(`send_${n}`))
  expect(called.cutOff()).toMatch(/: hub\.send_0, .*hub\.send_7 and 2 more tools\.$/)
  expect(called.beforeError()).toBeUndefined()
})
