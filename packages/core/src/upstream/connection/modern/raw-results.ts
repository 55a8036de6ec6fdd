// Keeps lists and results of revision 2026-07-28 from the client package's strict parsing, which cannot be disabled.
// The package receives a stub that is always valid, with the real result attached; `looseResult` restores it.
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import type { MessageObserver } from '../message-tap.ts'
import { RAW } from '../sdk.ts'
import { isTaskHandle } from './task-extension.ts'

/** Leaves results of other methods unchanged, and result types other than "complete" and "task". */
export function keepRawResults(): MessageObserver {
  const methods = new Map<string | number, string>()
  return {
    name: 'raw results',
    send: (message, options, ways) => {
      if ('method' in message && 'id' in message && message.method in STUBS) methods.set(message.id, message.method)
      return ways.send(message, options)
    },
    receive: (message) => stubResult(message, methods),
  }
}

const STUBS: Record<string, object> = {
  'tools/list': { tools: [], ttlMs: 0, cacheScope: 'private' },
  'tools/call': { content: [] },
  'resources/list': { resources: [], ttlMs: 0, cacheScope: 'private' },
  'resources/templates/list': { resourceTemplates: [], ttlMs: 0, cacheScope: 'private' },
  'resources/read': { contents: [], ttlMs: 0, cacheScope: 'private' },
  'prompts/list': { prompts: [], ttlMs: 0, cacheScope: 'private' },
  'prompts/get': { messages: [] },
}

function stubResult(message: JSONRPCMessage, methods: Map<string | number, string>): void {
  if (!('id' in message) || message.id === undefined || 'method' in message) return
  const method = methods.get(message.id)
  if (method === undefined) return
  methods.delete(message.id)
  if (!('result' in message)) return
  const { resultType, ...result } = message.result ?? {}
  // The package refuses unknown result types, so a task's type is kept inside RAW.
  const isTask = method === 'tools/call' && isTaskHandle(message.result)
  // A missing type means "complete" (MCP 2026-07-28, SEP-2322).
  if ((resultType ?? 'complete') !== 'complete' && !isTask) return
  message.result = { resultType: 'complete', ...STUBS[method], [RAW]: isTask ? message.result : result }
}
