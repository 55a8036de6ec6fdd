// This file verifies that Node prints no warnings while a client sends more requests than it reads responses.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { createLineSplitter } from '../../src/util/bytes/line-splitter.ts'
import { bridgeEnv, CLI, makeHome } from '../support/bridges/bridge-process.ts'

/** Makes any warning fatal. */
const WARNINGS_ARE_ERRORS = `data:text/javascript,process.on('warning', (warning) => { throw warning })`
/** Their responses fill the pipe and every buffer behind it. */
const REQUESTS = 10_000

it('a bridge whose answers are read late answers every request, and prints no warning', async () => {
  const child = spawn(process.execPath, ['--import', WARNINGS_ARE_ERRORS, CLI], {
    env: bridgeEnv(makeHome()),
    stdio: 'pipe',
  })
  onTestFinished(() => void child.kill())
  child.stdin.on('error', () => {})
  const stderr = text(child.stderr)
  const exited = once(child, 'exit')
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const clientInfo = { name: 'raw', version: '1' }
  send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } })
  send({ method: 'notifications/initialized' })
  for (let id = 1; id <= REQUESTS; id += 1) send({ id, method: 'resources/templates/list', params: {} })
  // When our pipe to the bridge is empty, it has read all of them.
  await Promise.race([once(child.stdin, 'drain'), exited])

  const answered = new Set<number>()
  const isAnswered = new Promise<void>((resolve) => {
    const splitter = createLineSplitter({
      maxBytes: 1 << 20,
      onLine: (line) => {
        answered.add((JSON.parse(line.toString()) as { id: number }).id)
        if (answered.size === REQUESTS + 1) resolve()
      },
      onTooLong: () => {},
    })
    child.stdout.on('data', (chunk: Buffer) => splitter.push(chunk))
  })
  await Promise.race([isAnswered, exited])
  child.stdin.end()
  expect(await exited).toEqual([0, null])
  expect(await stderr).toBe('')
  expect(answered.size).toBe(REQUESTS + 1)
})
