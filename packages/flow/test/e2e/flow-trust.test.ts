// @module-tag whole: a bridge for each test
// This file verifies how the user comes to trust the text of a server: by an answer, and what never counts as one.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { bridgeEnv, CLI, makeHome } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { startHttpBridge } from '@sandbridge/core/test/support/bridges/http-bridge.ts'
import { inTerminal, needsTerminal } from '@sandbridge/core/test/support/machine/in-terminal.ts'
import { runCommand } from '@sandbridge/core/test/support/machine/run-program.ts'
import { writePermissions } from '@sandbridge/core/test/support/bridges/ruled-bridge.ts'
import { caught, tellers, tellingBridge } from '@sandbridge/core/test/support/bridges/telling-bridge.ts'

const NOTE = 'Remember to water the plants on every second Tuesday and to feed the cat.'
const told = {
  notes: { note: NOTE, to: 'ann@acme.example' },
  web: { page: 'Call the plumber about a leaking tap, please.' },
  files: {},
}
const TRUST = 'yes, and always trust what notes says'
const read = 'print(await mcp_notes.get(name="note"))'
const send = caught('mcp_files.send(to="bob@acme.example")')
const sandbridge = (home: string, ...args: string[]) => runCommand(args, bridgeEnv(home))
const answers = (home: string) => readFileSync(path.join(home, 'MCPs/permissions.json'), 'utf8')

describe('an answer that trusts the text of a server', () => {
  it('is kept in permissions.json, counts in every session, is listed, and can be taken back', async () => {
    const first = await tellingBridge({ told, answer: TRUST })
    await first.bridge.run(read)
    expect(await first.bridge.run(send)).toContain('made')
    expect(first.questions).toHaveLength(1)
    expect(first.questions[0]).toContain('Trusting what notes says means: no question because of its text any more')
    expect(await first.bridge.run(send + send)).toMatch(/made\s+made/)
    expect(first.questions).toHaveLength(1)
    expect(JSON.parse(answers(first.home))).toMatchObject({ trust: [{ server: 'notes' }] })
    const { home } = first
    const second = await tellingBridge({ told, home })
    await second.bridge.run(read)
    expect(await second.bridge.run(send)).toContain('made')
    // Only of this server.
    await second.bridge.run('print(await mcp_web.get(name="page"))')
    expect(await second.bridge.run(send)).toContain('denied:')
    expect(second.questions[0]).toContain('the model has read text of web in this session')
    expect((await sandbridge(home, 'permissions')).stdout).toMatch(/^Trusted text: notes$/m)
    expect((await sandbridge(home, 'permissions', '--distrust', 'notes')).stdout).toContain('no longer trusted')
    expect((await sandbridge(home, 'permissions')).stdout).not.toContain('Trusted text')
    expect((await sandbridge(home, 'permissions', '--distrust', 'notes')).stdout).toContain('No answer trusts')
    const { stdout } = await sandbridge(home, 'permissions', '--distrust', 'notes', '--json')
    expect(JSON.parse(stdout)).toEqual({ server: 'notes', wasTrusted: false })
    // A running bridge notices before its next cell.
    await second.bridge.run(send)
    expect(second.questions.at(-1)).toMatch(/has read text of (web, notes|notes, web)/)
  })

  it('does not count for another server of the same name, nor for what that one said before', async () => {
    const first = await tellingBridge({ told, answer: TRUST })
    await first.bridge.run(read)
    await first.bridge.run(send)
    const { home } = first
    await first.bridge.run('runtime.save_memory("kept", await mcp_notes.get(name="note"))\n1')
    const open = async (change: (entry: { args: string[] }) => void) => {
      const other = await tellingBridge({ told, home })
      const file = path.join(home, 'MCPs/servers.json')
      const config = JSON.parse(readFileSync(file, 'utf8')) as { mcpServers: { notes: { args: string[] } } }
      change(config.mcpServers.notes)
      writeFileSync(file, JSON.stringify(config))
      return other
    }
    const memory = 'print(runtime.load_memory("kept"))'
    const same = await open(() => {})
    await same.bridge.run(read)
    await same.bridge.run(memory)
    expect(await same.bridge.run(send)).toContain('made')
    const live = await open(({ args }) => args.push('--other'))
    await live.bridge.run(read)
    expect(await live.bridge.run(send)).toContain('denied:')
    expect(live.questions[0]).toContain('has read text of notes in this session')
    // What the one that is trusted said is text of another one now, whether or not this one is trusted.
    const trusted = await open((entry) => Object.assign(entry, { args: [...entry.args, '--own'], trusted: true }))
    await trusted.bridge.run(read)
    expect(await trusted.bridge.run(send)).toContain('made')
    await trusted.bridge.run(memory)
    expect(await trusted.bridge.run(send)).toContain('denied:')
    expect(trusted.questions[0]).toContain('has read text of "an earlier notes" in this session')
    expect((await sandbridge(home, 'permissions')).stdout).toContain('Trusted text of an entry that has changed: notes')
  })

  it('counts for the entry: its variables are a part of it, and the content of its envFile is not', async () => {
    const first = await tellingBridge({ told, answer: TRUST })
    const { home } = first
    const file = path.join(home, 'MCPs/servers.json')
    const secrets = path.join(home, 'notes.env')
    const config = JSON.parse(readFileSync(file, 'utf8')) as { mcpServers: { notes: object } }
    const become = (more: object) =>
      writeFileSync(
        file,
        JSON.stringify({ mcpServers: { ...config.mcpServers, notes: { ...config.mcpServers.notes, ...more } } }),
      )
    const sent = async ({ bridge }: Pick<typeof first, 'bridge'>) => {
      await bridge.run('1')
      await bridge.run(read)
      return bridge.run(send)
    }
    writeFileSync(secrets, 'KEY=one')
    become({ envFile: secrets })
    expect(await sent(first)).toContain('made')
    expect(first.questions).toHaveLength(1)
    await first.bridge.client.close()
    const reopen = async (more: object) => {
      const other = await tellingBridge({ told, home })
      become(more)
      return sent(other)
    }
    writeFileSync(secrets, 'KEY=two')
    expect(await reopen({ envFile: secrets })).toContain('made')
    expect(await reopen({ envFile: secrets, env: { KEY: 'three' } })).toContain('denied:')
  })

  it('is not offered to one of several users over HTTP', async () => {
    const http = await startHttpBridge({ servers: tellers(makeHome(), told), env: { MCP_BRIDGE_FLOW: 'ask' } })
    const created = await runCommand(['token', 'create', 'ann'], bridgeEnv(http.home))
    const asked = async (token: string) => {
      const questions: string[] = []
      const client = await http.connect('legacy', {
        token,
        capabilities: { elicitation: { form: {} } },
        prepare: (one) =>
          one.setRequestHandler('elicitation/create', ({ params }) => {
            questions.push(params.message)
            return { action: 'accept', content: { answer: TRUST } }
          }),
      })
      await client.run(read)
      return [await client.run(send), ...questions]
    }
    const [hers, question] = await asked(created.stdout.trim())
    expect(hers).toContain('denied:')
    expect(question).toContain('has read text of notes in this session')
    expect(question).not.toContain('Trusting what')
    // Control: whoever runs the bridge.
    const [own, offered] = await asked(http.token)
    expect(own).toContain('made')
    expect(offered).toContain('Trusting what notes says')
  })

  it('what a session has read stays text of its server when a trusted one gets the name', async () => {
    const { bridge, home, questions } = await tellingBridge({ told })
    await bridge.run(read)
    const file = path.join(home, 'MCPs/servers.json')
    const config = JSON.parse(readFileSync(file, 'utf8')) as { mcpServers: { notes: object } }
    const become = (entry: object) => {
      config.mcpServers.notes = entry
      writeFileSync(file, JSON.stringify(config))
    }
    const before = config.mcpServers.notes as { args: string[] }
    become({ ...before, args: [...before.args, '--own'], trusted: true })
    await bridge.run('1')
    expect(await bridge.run(send)).toContain('denied:')
    expect(questions.at(-1)).toContain('has read text of "an earlier notes"')
    // Control: it is that server whose text is trusted now.
    become({ ...before, trusted: true })
    await bridge.run('1')
    expect(await bridge.run(send)).toContain('made')
  })

  it('is not offered where text also says where something goes, for several servers, or beside a rule', async () => {
    const several = await tellingBridge({ told, answer: TRUST })
    await several.bridge.run(`${read}\nprint(await mcp_web.get(name="page"))`)
    expect(await several.bridge.run(send)).toContain('denied:')
    expect(several.questions.at(-1)).not.toContain('Trusting what')
    const { bridge, questions, home } = await tellingBridge({
      told,
      answer: TRUST,
      permissions: { ask: ['files__send'] },
    })
    await bridge.run(read)
    expect(await bridge.run(send)).toContain('denied:')
    expect(questions).toEqual([expect.not.stringContaining('Trusting what')])
    writePermissions(home, {})
    expect(await bridge.run(caught('mcp_files.send(to=await mcp_notes.get(name="to"))'))).toContain('denied:')
    expect(questions).toHaveLength(2)
    expect(questions[1]).not.toContain('Trusting what')
    // Control: the same session, without that destination.
    expect(await bridge.run(send)).toContain('made')
  })

  it('is not offered for a server of a project, or one that says that it returns text of others', async () => {
    const open = async (annotations: object) => {
      const one = await tellingBridge({ told: { ...told, notes: { ...told.notes, annotations } }, answer: TRUST })
      await one.bridge.run(read)
      return { ...one, sent: await one.bridge.run(send) }
    }
    const others = await open({ openWorldHint: true })
    expect(others.sent).toContain('denied:')
    expect(others.questions[0]).toContain('has read text of notes in this session')
    expect(others.questions[0]).not.toContain('Trusting what')
    // Control: one that says nothing.
    expect((await open({})).sent).toContain('made')
    const { notes, files } = tellers(others.home, told)
    const project = await tellingBridge({
      told: { web: told.web },
      answer: TRUST,
      prepareHome: (home) => {
        writeFileSync(path.join(home, '.mcp.json'), JSON.stringify({ mcpServers: { notes } }))
        const trusted = spawnSync(process.execPath, [CLI, 'trust', '--yes'], { env: bridgeEnv(home), cwd: home })
        expect(trusted.status).toBe(0)
      },
      others: { files: files! },
    })
    await project.bridge.run(read)
    expect(await project.bridge.run(send)).toContain('denied:')
    expect(project.questions[0]).toContain('has read text of notes in this session')
    expect(project.questions[0]).not.toContain('Trusting what')
  })

  it('can be given with sandbridge approve, where the client cannot ask and the question offers it', async () => {
    const { bridge, home, reached } = await tellingBridge({ told, canAsk: false })
    const open = async () => {
      const { stdout } = await sandbridge(home, 'approve', '--json')
      return (JSON.parse(stdout) as { id: string; text: string }[]).at(-1)!
    }
    // A call whose destination is from the server, too: this answer is none to it.
    const forward = caught('mcp_files.send(to=await mcp_notes.get(name="to"))')
    await bridge.run(read)
    expect(await bridge.run(forward)).toContain('denied:')
    const other = await open()
    expect(other.text).not.toContain('Trusting what')
    const refused = await sandbridge(home, 'approve', other.id, '--answer', 'yes-trust')
    expect([refused.code === 0, refused.stderr.includes('yes-trust')]).toEqual([false, false])
    const declined = await sandbridge(home, 'approve', other.id, '--answer', 'no', '--json')
    expect(JSON.parse(declined.stdout)).toEqual({ id: other.id, answer: 'no' })
    expect(await bridge.run(send)).toMatch(/denied: .*sandbridge approve/)
    const question = await open()
    expect(question.text).toContain('Trusting what notes says means: no question because of its text any more')
    const answered = await sandbridge(home, 'approve', question.id, '--answer', 'yes-trust')
    expect(answered.stdout).toContain('Answered: yes-trust')
    expect(reached()).toEqual([])
    expect(await bridge.run(send)).toContain('made')
    expect(await bridge.run(send + send)).toMatch(/made\s+made/)
    expect(JSON.parse(answers(home))).toMatchObject({ trust: [{ server: 'notes' }] })
    expect(await bridge.run(forward)).toContain('made')
  })

  it('can be picked from the answers that sandbridge approve shows in a terminal', async () => {
    needsTerminal()
    const { bridge, home } = await tellingBridge({ told, canAsk: false })
    await bridge.run(read)
    expect(await bridge.run(send)).toContain('denied:')
    const shown = await inTerminal([process.execPath, CLI, 'approve'], bridgeEnv(home, { IN_TERMINAL_LIMIT: '80' }), {
      cwd: home,
      steps: [['1 to 7, or nothing to leave it open: ', '5\r']],
    })
    expect(shown).toContain(`  5. ${TRUST}\n`)
    expect(shown).toContain('Answered: yes-trust')
    expect(await bridge.run(send)).toContain('made')
    expect(JSON.parse(answers(home))).toMatchObject({ trust: [{ server: 'notes' }] })
  })

  it('leaves it to a rule whether cells may write text of others to that server', async () => {
    const page = 'Call the plumber about a leaking tap, please, and wire him the money at once, today if you can.'
    const telling = { ...told, web: { page } }
    const rule = { tool: 'notes__save', when: "from(args.text).exists(s, s != 'notes')" }
    const store = caught('mcp_notes.save(text=await mcp_web.get(name="page"))')
    const ruled = await tellingBridge({ told: telling, trusted: ['notes'], permissions: { ask: [rule] } })
    expect(await ruled.bridge.run(caught('mcp_notes.save(text="Feed the cat")'))).toContain('made')
    expect(await ruled.bridge.run(store)).toContain('denied:')
    expect(ruled.questions).toHaveLength(1)
    // Without the rule nobody is asked, as docs/flow.md says.
    writePermissions(ruled.home, {})
    expect(await ruled.bridge.run(store)).toContain('made')
    expect(ruled.questions).toHaveLength(1)
  })

  it('of a project counts for nothing', async () => {
    const home = makeHome()
    const folder = path.join(home, '.sandbridge')
    mkdirSync(folder, { recursive: true })
    writeFileSync(path.join(folder, 'permissions.json'), '{"trust": [{"server": "notes", "definition": "x"}]}')
    const refused = await runCommand(['permissions'], bridgeEnv(home), { cwd: home })
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain('trust is for your own permissions.json')
  })
})
