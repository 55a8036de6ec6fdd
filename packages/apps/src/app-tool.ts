// For clients that show apps: one more tool, bound to our page, the viewer. It gets the app with the result and shows
// it in a frame that loads nothing and cannot call tools.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { ReadResourceResult, Tool } from '@modelcontextprotocol/server'
import { noteParts, type ShownResult } from '@sandbridge/core/cell/render'
import { APP_TYPE, SHOW_APP } from '@sandbridge/core/parts'
import { PACKAGE_ROOT } from '@sandbridge/core/util'

const VIEWER_URI = 'ui://sandbridge/viewer'

export const SHOW_APP_TOOL = {
  name: SHOW_APP,
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

/** A tool that an app may not call: without this mark, it might. */
function forModelOnly(tool: Tool): Tool {
  return { ...tool, _meta: { ...tool._meta, ui: { visibility: ['model'] } } }
}

export function withShowApp(tools: readonly Tool[], byHandle: boolean): Tool[] {
  return [...tools.map(forModelOnly), byHandle ? SHOW_APP_TOOL_WITH_SESSION : SHOW_APP_TOOL]
}

/** Without `_meta.ui.csp` and `permissions`, so that no app gets connections, camera or clipboard. */
export function readViewer(uri: string): ReadResourceResult | undefined {
  if (uri !== VIEWER_URI) return undefined
  const text = readFileSync(path.join(PACKAGE_ROOT, 'packages/apps/src/viewer.html'), 'utf8')
  return { contents: [{ uri, mimeType: APP_TYPE, text }] }
}

export function withAppNotes(result: ShownResult): ShownResult {
  const page = result.artifacts?.findLast(({ contentType }) => contentType.startsWith('text/html'))
  if (!page) return result
  const note = `show_app(artifact=${JSON.stringify(page.name)}) shows this page to the user.`
  return { ...result, parts: [...result.parts, ...noteParts([note])] }
}
