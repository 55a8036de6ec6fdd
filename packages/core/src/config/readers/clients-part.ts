// The readers of other clients' config files, as far as the core knows them.
import { Part } from '../../util/part.ts'
import type { Reader } from './reader.ts'

/** Without it, servers come from the bridge's own files. */
export const clients = new Part<ClientsPart>('the reader of other clients')

interface ClientsPart {
  /** In order of precedence. */
  CLIENT_READERS: readonly Reader[]
}

/** The clients, in order of precedence. A client without a reader, or a reader without its client, does not compile. */
export const CLIENTS = [
  'claude-code',
  'claude-desktop',
  'cursor',
  'vscode',
  'windsurf',
  'codex',
  'gemini-cli',
  'opencode',
  'zed',
  'antigravity',
  'goose',
  'cline',
  'copilot-cli',
  'kiro',
  'amp',
  'lm-studio',
  'qwen-code',
  'continue',
  'crush',
  'roo',
  'junie',
  'amazon-q',
  'factory',
  'warp',
  'augment',
  'trae',
  'librechat',
] as const
