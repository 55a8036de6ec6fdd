// Apps for clients that show them (MCP Apps, SEP-1865), as far as the core knows them.
import type { CallToolResult, ClientCapabilities, ReadResourceResult, Tool } from '@modelcontextprotocol/server'
import type { CellApps } from '../../calls/methods/method.ts'
import type { ShownResult } from '../../cell/render/render-result.ts'
import type { Session } from '../../cell/session/session.ts'
import { fieldsOf } from '../../util/json/json.ts'
import { Part } from '../../util/part.ts'
import type { Conversation } from './sessions.ts'

export const apps = new Part<AppsPart>('apps')

interface AppsPart {
  /** What keeps the calls of a session; always the same one. */
  appsOf: (session: Session) => CellApps
  /** The tools as a client gets them that shows apps: no app may call them. The last one is SHOW_APP. */
  withShowApp: (tools: readonly Tool[], byHandle: boolean) => Tool[]
  /** Every failure is a result that the model can act on. */
  showApp: (
    args: Record<string, unknown> | undefined,
    conversation: Conversation,
    byHandle: boolean,
  ) => Promise<CallToolResult>
  /** @returns undefined for another resource */
  readViewer: (uri: string) => ReadResourceResult | undefined
  /** Tells the model how to show the page that the cell saved last. */
  withAppNotes: (result: ShownResult) => ShownResult
}

/** The tool that shows an app. */
export const SHOW_APP = 'show_app'
export const APP_TYPE = 'text/html;profile=mcp-app'
const EXTENSION = 'io.modelcontextprotocol/ui'

/** Whether the client shows apps, and this build has them. */
export function showsApps({ extensions }: Pick<ClientCapabilities, 'extensions'>): boolean {
  const { mimeTypes } = fieldsOf(extensions?.[EXTENSION])
  return apps.isHere && Array.isArray(mimeTypes) && mimeTypes.includes(APP_TYPE)
}
