// This file verifies a resident of Windows: its named pipe, and what another program that opens or takes that pipe
// learns. The proof itself is tested everywhere, in packages/resident/src/reach/proof.test.ts.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import path from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { askResident } from '../src/ask-resident.ts'
import { skip } from '@sandbridge/core/test/support/suite/needs.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import {
  isAlive,
  kill,
  residentHome,
  type ResidentHome,
} from '@sandbridge/core/test/support/bridges/resident-clients.ts'

const NONCE_BYTES = 32

beforeEach(() => {
  if (process.platform !== 'win32') skip('only on Windows: named pipes')
})

/** Of the resident that has a name: the file of its pipe, and what that says. */
function pipeOf({ folder }: ResidentHome): { file: string; name: string; secret: string } {
  const [home] = readdirSync(folder).filter((name) => name.endsWith('.d'))
  const file = path.join(folder, home!, 's')
  const [name, secret] = readFileSync(file, 'utf8').split('\n')
  return { file, name: name!, secret: secret! }
}

it('clients that start at once share a resident, and each has its own variables and folder', async () => {
  const home = residentHome({})
  const [ann, bob] = await Promise.all([home.connect('ann'), home.connect('bob')])
  expect(await Promise.all([ann.run('print(1)'), bob.run('print(2)')])).toEqual(['1', '2'])
  expect(home.residents()).toHaveLength(1)
  const { code, stdout } = home.command('status')
  expect([code, stdout]).toEqual([0, expect.stringContaining(`Resident ${home.residents()[0]}`)])
  for (const name of ['ann', 'bob']) expect(stdout).toContain(path.join(home.home, name))
  expect(home.command('stop').code).toBe(0)
  await until(() => !isAlive(home.residents()[0]!))
  expect(await ann.run('print(3)')).toBe('3')
})

it('a client that has said everything gets its answers before its relay ends', async () => {
  const home = residentHome({})
  await home.connect('keeper')
  const ann = home.start('ann')
  const answers = [ann.initialize(), ann.ask('tools/list')]
  ann.process.stdin!.end()
  const [, list] = await Promise.all(answers)
  expect(list).toHaveProperty('result.tools.0.name', 'run_python')
  expect(await ann.exited).toBe(0)
})

it('a relay goes on after its resident was killed', async () => {
  const home = residentHome({})
  const ann = await home.connect('ann')
  const answer = ann.run('import time\ntime.sleep(60)')
  await until(() => home.residents().length === 1)
  kill(home.residents()[0]!, 'SIGKILL')
  expect(await answer).toMatch(/may or may not have taken effect/)
  expect(await ann.run('print("again")')).toBe('again')
})

it('a program that takes the pipe of a killed resident learns nothing, and the client gets another', async () => {
  const home = residentHome({}, { MCP_BRIDGE_RESIDENT: 'on idle=60' })
  const ann = await home.connect('ann')
  const { file, name, secret } = pipeOf(home)
  const [first] = home.residents()
  // Its relay would start another one.
  ann.process.kill()
  await ann.exited
  kill(first!, 'SIGKILL')
  await until(() => !isAlive(first!))
  let heard = Buffer.alloc(0)
  let connections = 0
  const squatter = createServer((socket) => {
    connections += 1
    socket.on('error', () => {}).on('data', (chunk) => (heard = Buffer.concat([heard, chunk])))
    socket.write(Buffer.alloc(2 * NONCE_BYTES))
  })
  await new Promise<void>((resolve) => squatter.listen(name, resolve))
  onTestFinished(() => void squatter.close())
  // As if another process of the user had the process id by now: otherwise no relay connects at all.
  writeFileSync(file, [name, secret, process.pid].join('\n'))
  const bob = await home.connect('bob')
  expect(await bob.run('print(2)')).toBe('2')
  expect(home.residents()).toHaveLength(2)
  expect(connections).toBeGreaterThan(0)
  expect(heard.length).toBeLessThanOrEqual(connections * NONCE_BYTES)
})

it('a program without the secret is told nothing by the resident, and one with it is answered', async () => {
  const home = residentHome({})
  await home.connect('ann')
  const { file, name } = pipeOf(home)
  let heard = 0
  const socket: Socket = connect(name, () => socket.write(Buffer.alloc(NONCE_BYTES)))
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    heard += chunk.length
    // Its own proof, and what a client of POSIX would ask.
    socket.write(chunk.subarray(NONCE_BYTES))
    socket.write('\u0001{"status":true}\n')
  })
  await new Promise((resolve) => socket.once('close', resolve))
  expect(heard).toBe(2 * NONCE_BYTES)
  expect(await askResident(file, { status: true })).toHaveProperty('status.pid', home.residents()[0])
})
