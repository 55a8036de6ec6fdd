// @module-tag whole: it makes each denial in each way, and again behind a relay
// This file verifies that every denied call has a line in the record, whatever denied it, and that an approved call is
// not listed as denied.
import { expect, it } from 'vitest'
import { bridgeEnv } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { ruledBridge } from '@sandbridge/core/test/support/bridges/ruled-bridge.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'

const caught = (call: string) => `try:\n    ${call}\nexcept runtime.PermissionDenied: pass`

it('sandbridge log lists calls that were denied by a rule, a limit, the user or the check before a cell', async () => {
  const answers = ['no', 'yes, this once']
  const { bridge, home } = await ruledBridge({
    permissions: {
      deny: ['hub__delete_repo', { tool: 'hub__delete_all', when: 'args.id == 2' }],
      ask: ['hub__create_issue'],
      allow: [{ tool: 'hub__get_issue', perSession: 1 }],
    },
    answer: () => answers.shift(),
  })
  await bridge.run('await runtime.list_tools("hub")')
  // Called through getattr, so that the check before a cell does not see the calls.
  const call = (tool: string, id: number) => bridge.run(caught(`i = ${id}; await getattr(mcp_hub, "${tool}")(id=i)`))
  await call('delete_repo', 1)
  await call('delete_all', 2)
  await call('create_issue', 3)
  await call('create_issue', 4)
  await call('get_issue', 5)
  await call('get_issue', 6)
  expect(await bridge.run('await mcp_hub.delete_repo(id=7)')).toContain('Not run')
  await bridge.client.close()
  const listed = async () => {
    const command = ['log', '--denied', '--json']
    const { stdout } = await runCommand(command, bridgeEnv(home))
    const entries = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string>)
    return entries.map((one) => [one['type'], one['name'], one['rule']])
  }
  const expected = [
    ['denial', 'delete_repo', '"hub__delete_repo"'],
    ['denial', 'delete_all', expect.stringContaining('hub__delete_all')],
    ['answer', undefined, undefined],
    ['denial', 'create_issue', '"hub__create_issue"'],
    ['denial', 'get_issue', expect.stringContaining('perSession')],
    ['denial', 'delete_repo', '"hub__delete_repo"'],
  ]
  // A resident, which goes on without this client, writes a moment later.
  await expect.poll(listed).toEqual(expected)
})
