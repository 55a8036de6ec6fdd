// Apps for clients that show them (MCP Apps, SEP-1865): one more tool, bound to our page, the viewer. It gets the app
// with the result and shows it in a frame that loads nothing and cannot call tools.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { ClientCapabilities, ReadResourceResult } from '@modelcontextprotocol/server'
import type { ShownResult } from '../../../cell/render/render-result.ts'
import { noteParts } from '../../../cell/render/parts.ts'
import { APP_TYPE } from '../../../util/app-type.ts'
import { fieldsOf } from '../../../util/json/json.ts'
import { PACKAGE_ROOT } from '../../../util/package-root.ts'

const EXTENSION = 'io.modelcontextprotocol/ui'
export const VIEWER_URI = 'ui://sandbridge/viewer'

export const SHOW_APP_TOOL = {
  name: 'show_app',
  description:
    "Shows the user a page that a cell saved with runtime.show_app(html, data), or the app of a server's tool with its " +
    'newest result. Results of run_python say what can be shown.',
  inputSchema: {
    type: 'object' as const,
    properties: {
      artifact: { type: 'string' as const, description: 'name' },
      result_of: { type: 'string' as const, description: 'server.tool' },
    },
  },
  annotations: { readOnlyHint: true },
  _meta: { 'anthropic/alwaysLoad': true, ui: { resourceUri: VIEWER_URI, visibility: ['model'] } },
}

/** For clients that name the session of each call. */
export const SHOW_APP_TOOL_WITH_SESSION = {
  ...SHOW_APP_TOOL,
  inputSchema: {
    ...SHOW_APP_TOOL.inputSchema,
    properties: { ...SHOW_APP_TOOL.inputSchema.properties, session: { type: 'string' as const } },
  },
}

export function showsApps({ extensions }: Pick<ClientCapabilities, 'extensions'>): boolean {
  const { mimeTypes } = fieldsOf(extensions?.[EXTENSION])
  return Array.isArray(mimeTypes) && mimeTypes.includes(APP_TYPE)
}

/** A tool that an app may not call: without this mark, it might. */
export function forModelOnly<T extends { _meta?: Record<string, unknown> | undefined }>(tool: T): T {
  return { ...tool, _meta: { ...tool._meta, ui: { visibility: ['model'] } } }
}

/** Without `_meta.ui.csp` and `permissions`, so that no app gets connections, camera or clipboard. */
export function readViewer(): ReadResourceResult {
  const text = readFileSync(path.join(PACKAGE_ROOT, 'packages/core/src/serve/mcp/apps/viewer.html'), 'utf8')
  return { contents: [{ uri: VIEWER_URI, mimeType: APP_TYPE, text }] }
}

/** Tells the model how to show the page that the cell saved last. */
export function withAppNotes(result: ShownResult): ShownResult {
  const page = result.artifacts?.findLast(({ contentType }) => contentType.startsWith('text/html'))
  if (!page) return result
  const note = `show_app(artifact=${JSON.stringify(page.name)}) shows this page to the user.`
  return { ...result, parts: [...result.parts, ...noteParts([note])] }
}
