// The version in package.json, which lies beside src/ and dist/ alike.
import { readFileSync } from 'node:fs'

const packageJson = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

export const VERSION = packageJson.version
