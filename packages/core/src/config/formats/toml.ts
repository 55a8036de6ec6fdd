// Parses TOML, for Codex. Loaded only when such a file exists. Pure.
import { parse, TomlError } from 'smol-toml'
import type { Parsed } from './jsonc.ts'

export { stringify as stringifyToml } from 'smol-toml'

export function parseToml(text: string): Parsed {
  try {
    return { value: parse(text) }
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    return { reason: `is not valid TOML, at line ${error.line}, column ${error.column}` }
  }
}
