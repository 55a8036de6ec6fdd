import { expect, test } from 'vitest'
import { catalogTools } from './catalog-tool.ts'
import { toolLine } from './tool-doc.ts'

const lineOf = (description: string): string =>
  toolLine(catalogTools('files', 'files', [{ name: 'read_file', description, inputSchema: { type: 'object' } }])[0]!)

test('a line says that the tool is deprecated, wherever the server says so, and says it once', () => {
  expect(lineOf('Read a whole file. DEPRECATED: Use read_text_file instead.')).toContain(
    '# DEPRECATED: Use read_text_file instead; Read a whole file',
  )
  expect(lineOf('Deprecated. Read a file.').match(/deprecated/gi)).toHaveLength(1)
})
