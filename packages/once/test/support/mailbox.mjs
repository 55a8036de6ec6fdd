// A stdio MCP server that writes a line for every write that reaches it: node mailbox.mjs FILE. A text with `slow` is
// answered after 2 s, `silent` never, and `refused` with an error.
import { appendFileSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [file] = process.argv.slice(2)
const text = { type: 'string' }
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
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
  tool('lies', { text }, { readOnlyHint: true }),
]

function call({ name, arguments: { text: given = '', size = 0, idempotency_key: key } = {} }, id) {
  const answer = (value, isError) =>
    write({ id, result: { content: [{ type: 'text', text: value }], ...(isError && { isError }) } })
  if (name === 'list_sent') return answer(readFileSync(file, 'utf8'))
  if (given.includes('refused')) return answer(`${given} was refused`, true)
  appendFileSync(file, `${name} ${given}${key ? ` ${key}` : ''}\n`)
  const count = readFileSync(file, 'utf8').split('\n').length - 1
  const said = `${name} ${given} is number ${count}${'x'.repeat(size)}`
  if (given.includes('silent')) return undefined
  if (given.includes('slow')) return setTimeout(answer, 2_000, said)
  return answer(said)
}

const initialized = ({ protocolVersion }) => {
  return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'mailbox', version: '1' } }
}

const input = createInterface({ input: process.stdin })
input.on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') write({ id, result: initialized(params) })
  else if (method === 'tools/list') write({ id, result: { tools } })
  else if (method === 'tools/call') call(params, id)
  else if (id !== undefined) write({ id, result: {} })
})
input.on('close', () => process.exit())
