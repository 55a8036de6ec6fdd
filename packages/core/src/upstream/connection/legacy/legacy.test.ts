import type { Client } from '@modelcontextprotocol/client'
import { expect, it } from 'vitest'
import type { ToolList } from '../../listing/tool-list.ts'
import { legacy } from './legacy.ts'

const NOT_FOUND = { code: -32_601 }
const client = (tasks: object) => ({ getServerCapabilities: () => ({ tasks }) }) as unknown as Client
const list = { taskTools: new Set(['slow']) } as ToolList

it('a call is sent again as a task when the server says that it has no such method, unless it ran as a task', () => {
  const revision = legacy(client({ requests: { tools: { call: {} } } }), 'hub', undefined)
  expect(revision.isCalledOtherwise(NOT_FOUND, 'slow')).toBe(true)
  revision.learn(list)
  expect(revision.isCalledOtherwise(NOT_FOUND, 'slow')).toBe(false)
  expect(revision.isCalledOtherwise({ code: -32_602 }, 'other')).toBe(false)
  expect(legacy(client({}), 'hub', undefined).isCalledOtherwise(NOT_FOUND, 'slow')).toBe(false)
})
