// This file verifies that rules which match no tool are found, and what is said of them.
import { expect, it } from 'vitest'
import { readRules } from './read-rules.ts'
import type { KnownServer } from '@sandbridge/core/config/rules'
import { unmatchedRules } from './unmatched-rules.ts'

async function unmatched(rule: unknown, servers: KnownServer[]) {
  const origin = { scope: 'user', file: 'permissions.json', shown: 'permissions.json' } as const
  const read = await readRules(JSON.stringify({ permissions: { deny: [rule] } }), origin)
  if ('problems' in read) throw new Error(JSON.stringify(read.problems))
  return unmatchedRules(read.rules, servers)
}

const github = { name: 'github', tools: ['get_issue', 'delete_repo'] }

it.each(['github__delete_repos', 'mcp_github.delete_repos', 'github/delete_repos'])(
  'a rule that misspells a tool as %s is about its server, and the nearest name is shown',
  async (rule) => {
    expect(await unmatched(rule, [github])).toMatchObject([
      { about: ['github'], isWaiting: false, message: expect.stringContaining('Did you mean github__delete_repo?') },
    ])
  },
)

it('a rule without a server names the tools that it may mean', async () => {
  const [found] = await unmatched('delete_repo', [github])
  expect(found).toMatchObject({ about: [], isWaiting: false })
  expect(found!.message).toContain('Did you mean github__delete_repo?')
})

it('a rule for a server that is not there waits for it', async () => {
  const [found] = await unmatched('jira__drop', [github])
  expect(found).toMatchObject({ about: [], isWaiting: true })
  expect(found!.message).toMatch(/counts once there is such a server/)
})

it('a rule counts as matched by another name of a server, and while the tools of a server are unknown', async () => {
  expect(await unmatched('github__delete_repo', [{ ...github, name: 'gh', otherNames: ['github'] }])).toEqual([])
  expect(await unmatched(' github__ delete_repo', [github])).toEqual([])
  expect(await unmatched('github_anything', [{ name: 'github', tools: undefined }])).toEqual([])
})
