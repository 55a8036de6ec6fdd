// A folder of a test. It lies in that of the run (temporary-folder.ts), with which it is removed.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Makes an empty folder, and returns its path. */
export const newFolder = (): string => mkdtempSync(path.join(tmpdir(), 'sb-'))
