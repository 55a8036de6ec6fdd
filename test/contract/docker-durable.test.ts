// This file verifies that a sandbox that can outlive its bridge behaves like any other while a bridge is there.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll } from 'vitest'
import { runCommand } from '../../src/util/process/run-command.ts'
import { ContainerProvider } from '../../src/isolation/container/provider.ts'
import { SLIM_IMAGE } from '../support/engines.ts'
import { testProvider } from './provider-contract.ts'

const stateDir = mkdtempSync(path.join(tmpdir(), 'sb-durable-'))
afterAll(() => rmSync(stateDir, { recursive: true, force: true }))

testProvider(
  'docker',
  {
    isVariant: true,
    isLeft: async (id) => {
      const { stdout } = await runCommand('docker', ['ps', '--all', '--quiet', '--filter', `name=${id}`])
      return stdout !== ''
    },
    killFromOutside: async ({ id }) => void (await runCommand('docker', ['kill', id])),
  },
  new ContainerProvider('docker', {
    image: SLIM_IMAGE,
    user: '65534:65534',
    pidsCount: 128,
    durable: { stateDir, made: '', keepSeconds: 60 },
  }),
)
