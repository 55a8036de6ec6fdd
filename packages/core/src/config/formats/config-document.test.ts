import { expect, it } from 'vitest'
import { parseDocument } from './config-document.ts'

it('numbers in a table of texts are read as they are written, and others as numbers', async () => {
  const env = '{"ID": 12345678901234567890, "VERSION": 3.10, "FAR": -1E5, "PORT": 80, "RATIO": 0.5, "ON": true}'
  const text = `{"s": {"env": ${env}, "args": [1.0, [2.0]], "timeout": 30.0, "env": ${env}}}`
  const read = { ID: '12345678901234567890', VERSION: '3.10', FAR: '-1E5', PORT: 80, RATIO: 0.5, ON: true }
  const document = { s: { env: read, args: ['1.0', ['2.0']], timeout: 30 } }
  expect(await parseDocument(text, 'jsonc')).toEqual({ document })
  const twice = '{"env": {"a": 1.0}, "args": [1.0], "env": null, "args": "b"}'
  expect(await parseDocument(twice, 'jsonc')).toEqual({ document: { env: null, args: 'b' } })
})
