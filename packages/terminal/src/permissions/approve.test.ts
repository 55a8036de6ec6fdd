import { expect, it } from 'vitest'
import { OWN_TERMINAL } from '../../../core/src/serve/cli/terminal/terminal.ts'
import { approve } from './approve.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

it('tells a question that is not there from no question at all', async () => {
  const stateDir = newFolder()
  const said: string[] = []
  const terminal = {
    ...OWN_TERMINAL,
    context: { env: { MCP_BRIDGE_STATE_DIR: stateDir }, cwd: stateDir, home: stateDir, ownPaths: [] },
    printEmpty: (text: string) => void said.push(text),
  }
  await approve(undefined, {}, terminal)
  expect(said).toEqual([expect.stringContaining(`No call waits for an answer in ${stateDir}.`)])
  await expect(approve('0123', { answer: 'yes' }, terminal)).rejects.toMatchObject({
    code: 'STATE_NOT_FOUND',
    message: "No question '0123' waits for an answer",
    hint: 'To list them: sandbridge approve --json',
  })
})
