// A stdio MCP server that writes a line for every write that reaches it: node mailbox.mjs FILE. A text with `slow` is
// answered after 2 s, `silent` never, and `refused` with an error.
import { appendFileSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { serveTools, text as said } from '../../../core/test/support/servers/tool-server.mjs'

const [file] = process.argv.slice(2)
const text = { type: 'string' }
const tool = (name, properties, annotations) => ({
  name,
  description: `Do ${name}`,
  inputSchema: { type: 'object', properties },
  ...(annotations && { annotations }),
})
const tools = [
  tool('send', { text, size: { type: 'integer' } }),
  tool('label', { text }, { idempotentHint: true }),
  tool('pay', { text, idempotency_key: text }),
  tool('list_sent', {}, { readOnlyHint: true }),
  tool('peek', { text }, { readOnlyHint: true }),
  tool('delete_all', { text }, { readOnlyHint: true }),
]

async function call({ name, arguments: { text: given = '', size = 0, idempotency_key: key } = {} }) {
  if (name === 'list_sent') return said(readFileSync(file, 'utf8'))
  if (given.includes('refused')) return { ...said(`${given} was refused`), isError: true }
  appendFileSync(file, `${name} ${given}${key ? ` ${key}` : ''}\n`)
  const count = readFileSync(file, 'utf8').split('\n').length - 1
  if (given.includes('silent')) return undefined
  if (given.includes('slow')) await sleep(2_000)
  return said(`${name} ${given} is number ${count}${'x'.repeat(size)}`)
}

serveTools({ name: 'mailbox', tools: () => tools, call })
