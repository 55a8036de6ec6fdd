// A stdio MCP server with the tools of the conformance suite whose results are of the server alone.
//   node listed-server.mjs PNG WAV
import { setTimeout as sleep } from 'node:timers/promises'
import { serveTools, write } from '../../packages/core/test/support/servers/tool-server.mjs'

const [png, wav] = process.argv.slice(2)
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

async function call({ name, _meta }) {
  try {
    return { content: await tools[name](_meta ?? {}) }
  } catch (error) {
    return { content: [text(error.message)], isError: true }
  }
}

serveTools({
  name: 'listed',
  capabilities: { logging: {} },
  tools: () => Object.keys(tools).map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
  call,
  told: ({ id }) => answers.get(id)?.(),
})
