import { expect, it, vi } from 'vitest'
import { makeTemporaryFolder } from './temporary-folder.ts'

it('the error for a missing temporary folder names it and says what to set', async () => {
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) vi.stubEnv(name, '/nonexistent')
  await expect(makeTemporaryFolder()).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('/nonexistent is not writable'),
    hint: expect.stringContaining('TMPDIR'),
  })
})
