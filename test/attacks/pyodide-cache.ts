// One cache folder for all tests, so that Python is prepared once instead of by every file.
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export function testCacheFolder(): string {
  return join(tmpdir(), `sandbridge-test-cache-${process.getuid?.() ?? ''}`)
}
