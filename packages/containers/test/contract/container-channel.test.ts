// This file verifies that frames bypass an engine of this machine, and go through it wherever they cannot bypass it.
import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, readdirSync } from 'node:fs'
import { Socket } from 'node:net'
import path from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Sandbox } from '../../../core/src/isolation/provider.ts'
import { attachCells, MEMORY_BYTES, startCells } from '@sandbridge/core/test/support/sandboxes/cell-runner.ts'
import { providerOrSkip } from '@sandbridge/core/test/support/sandboxes/engines.ts'
import { runningProcesses } from '@sandbridge/core/test/support/machine/processes.ts'
import { programOnPath } from '../support/program-on-path.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

const isDirect = ({ stdin, stdout }: Sandbox): boolean => stdin instanceof Socket && Object.is(stdin, stdout)

const socketsIn = (folder: string): string[] => readdirSync(folder).filter((name) => /^sandbridge-\w{6}$/.test(name))

/** Uses an empty temporary folder until the test is over. */
function emptyTemporaryFolder(): string {
  const folder = newFolder()
  // The engine may run as another user.
  chmodSync(folder, 0o1777)
  vi.stubEnv('TMPDIR', folder)
  return folder
}

describe.each(['podman', 'docker'] as const)('%s on this machine', (engine) => {
  it('an engine on this machine passes no frame on: cells run, call and are interrupted while its command stands still', async () => {
    const cells = await startCells(await providerOrSkip(engine))
    const { id } = cells.kernel.sandbox
    const commands = runningProcesses().filter(({ command }) => command.includes(`--name ${id} `))
    expect(commands.length).toBeGreaterThan(0)
    const signal = (name: 'SIGSTOP' | 'SIGCONT') => commands.forEach(({ pid }) => process.kill(pid, name))
    signal('SIGSTOP')
    onTestFinished(() => signal('SIGCONT'))
    const called = await cells.run("str(await mcp_host.look('here'))", () => ({
      content: [{ type: 'text', text: 'seen' }],
    }))
    expect([called.status, called.value]).toEqual(['ok', "'seen'"])
    const running = cells.run("print('here', flush=True)\nwhile True: pass")
    await cells.printed('here')
    cells.kernel.interrupt()
    expect((await running).status).toBe('interrupted')
  })

  it('an interrupt goes through the engine, and reaches code that never lets another thread run', async () => {
    const cells = await startCells(await providerOrSkip(engine))
    const running = cells.run("import re\nprint('here', flush=True)\nre.match('(a+)+$', 'a' * 60 + 'b')")
    await cells.printed('here')
    cells.kernel.interrupt()
    expect((await running).status).toBe('interrupted')
    expect((await cells.run('6 * 7')).value).toBe('42')
  })

  it('the socket for frames leaves no file on the host, and the sandbox ends when its command does', async () => {
    const provider = await providerOrSkip(engine)
    const folder = emptyTemporaryFolder()
    const cells = await startCells(provider)
    expect(isDirect(cells.kernel.sandbox)).toBe(true)
    expect(socketsIn(folder)).toEqual([])
    await cells.kernel.sandbox.dispose()
    expect((await cells.kernel.sandbox.exited).reason).toBe('disposed')
  })

  const real = () => spawnSync('sh', ['-c', `command -v ${engine}`], { encoding: 'utf8' }).stdout.trim()
  const outOfReach = {
    'that does not see the files of this machine': 'rm -rf "$TMPDIR"/sandbridge-*',
    'whose sandboxes may not connect': 'chmod 000 "$TMPDIR"/sandbridge-*/channel 2>/dev/null',
  }
  for (const [what, hide] of Object.entries(outOfReach)) {
    it(`${what} passes frames through its command, and gets no second socket`, async () => {
      const provider = await providerOrSkip(engine)
      const program = real()
      const folder = emptyTemporaryFolder()
      const offers = path.join(folder, 'offers')
      const onOffer = `case "$*" in *channel,target=*) echo >> ${offers}; ${hide};; esac`
      programOnPath(engine, `${onOffer}\nexec ${program} "$@"`)
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const sandbox = await provider.start({ memoryBytes: MEMORY_BYTES })
        const cells = await attachCells(sandbox)
        expect((await cells.run('6 * 7')).value).toBe('42')
        expect(isDirect(sandbox)).toBe(false)
      }
      expect(readFileSync(offers, 'utf8')).toBe('\n')
      expect(socketsIn(folder)).toEqual([])
    })
  }
})
