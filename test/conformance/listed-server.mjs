// A stdio MCP server with the tools of the conformance suite whose results are of the server alone.
//   node listed-server.mjs PNG WAV
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

const [png, wav] = process.argv.slice(2)
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const text = (said) => ({ type: 'text', text: said })
const image = { type: 'image', data: png, mimeType: 'image/png' }
const embedded = {
  type: 'resource',
  resource: { uri: 'test://embedded', mimeType: 'text/plain', text: 'This is an embedded resource content.' },
}
const answers = new Map()
const ask = (id) =>
  new Promise((resolve) => {
    answers.set(id, resolve)
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } }
    write({ id, method: 'elicitation/create', params: { message: 'Please answer', requestedSchema } })
  })
const tools = {
  async test_input_required_result_multi_round() {
    await ask('first')
    await ask('second')
    return [text('done')]
  },
  test_simple_text: () => [text('This is a simple text response for testing.')],
  test_image_content: () => [image],
  test_audio_content: () => [{ type: 'audio', data: wav, mimeType: 'audio/wav' }],
  test_embedded_resource: () => [embedded],
  test_multiple_content_types: () => [text('Multiple content types test:'), image, embedded],
  test_error_handling: () => {
    throw new Error('This tool intentionally returns an error for testing')
  },
  async test_tool_with_progress({ progressToken }) {
    for (const progress of [0, 50, 100]) {
      write({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
      await sleep(1_100)
    }
    return [text('done')]
  },
  async test_tool_with_logging() {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      write({ method: 'notifications/message', params: { level: 'info', data } })
      await sleep(50)
    }
    return [text('done')]
  },
}

createInterface({ input: process.stdin }).on('line', (line) => void receive(line))

async function receive(line) {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize')
    write({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {}, logging: {} },
        serverInfo: { name: 'listed', version: '1' },
      },
    })
  else if (method === 'tools/list')
    write({
      id,
      result: {
        tools: Object.keys(tools).map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
      },
    })
  else if (method === 'tools/call') {
    try {
      write({ id, result: { content: await tools[params.name](params._meta ?? {}) } })
    } catch (error) {
      write({ id, result: { content: [text(error.message)], isError: true } })
    }
  } else if (method === undefined) answers.get(id)?.()
  else if (id !== undefined) write({ id, result: {} })
}
