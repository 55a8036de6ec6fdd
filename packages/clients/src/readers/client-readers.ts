// The readers of all clients.
import { CLIENTS } from '@sandbridge/core/parts'
import type { Reader } from '@sandbridge/core/config'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { continueDev } from './continue.ts'
import { crush } from './crush.ts'
import { geminiCli, qwenCode } from './gemini-cli.ts'
import { goose } from './goose.ts'
import { librechat } from './librechat.ts'
import { opencode } from './opencode.ts'
import * as shared from './shared-shape.ts'
import { vscode } from './vscode.ts'
import { zed } from './zed.ts'

const READERS: Record<(typeof CLIENTS)[number], Reader> = {
  'claude-code': claudeCode,
  'claude-desktop': shared.claudeDesktop,
  cursor: shared.cursor,
  vscode,
  windsurf: shared.windsurf,
  codex,
  'gemini-cli': geminiCli,
  opencode,
  zed,
  antigravity: shared.antigravity,
  goose,
  cline: shared.cline,
  'copilot-cli': shared.copilotCli,
  kiro: shared.kiro,
  amp: shared.amp,
  'lm-studio': shared.lmStudio,
  'qwen-code': qwenCode,
  continue: continueDev,
  crush,
  roo: shared.roo,
  junie: shared.junie,
  'amazon-q': shared.amazonQ,
  factory: shared.factory,
  warp: shared.warp,
  augment: shared.augment,
  trae: shared.trae,
  librechat,
}

export const CLIENT_READERS: readonly Reader[] = CLIENTS.map((client) => READERS[client])
