// The readers of all clients.
import { CLIENTS } from '@sandbridge/core/parts'
import type { Reader } from '@sandbridge/core/config'
import { claudeCode } from './claude-code.ts'
import { continueDev } from './continue.ts'
import { geminiCli, qwenCode } from './gemini-cli.ts'
import { goose } from './goose.ts'
import { opencode } from './opencode.ts'
import { SHAPED } from './shared-shape.ts'
import { vscode } from './vscode.ts'

const READERS: Record<(typeof CLIENTS)[number], Reader> = {
  ...SHAPED,
  'claude-code': claudeCode,
  vscode,
  'gemini-cli': geminiCli,
  opencode,
  goose,
  'qwen-code': qwenCode,
  continue: continueDev,
}

export const CLIENT_READERS: readonly Reader[] = CLIENTS.map((client) => READERS[client])
