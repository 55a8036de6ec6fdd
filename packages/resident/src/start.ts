// `sandbridge start`: starts the resident bridge as a first client would, and has it stay without clients.
import { spawn } from 'node:child_process'
import { BridgeError } from '@sandbridge/core/errors.ts'
import { print } from '@sandbridge/core/serve/cli/terminal'
import { askResident } from './ask-resident.ts'
import { ownResident } from './own-resident.ts'

/** Listing the tools makes a bridge start a sandbox and list its servers. */
const FIRST_CLIENT = [
  {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'sandbridge start', version: '1' } },
  },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list' },
]

/** @throws BridgeError SHUTTING_DOWN where there is no resident */
export async function start(): Promise<void> {
  await beClient()
  const { place } = await ownResident()
  const answer = await askResident(place.socket, { keep: true })
  if (answer === undefined || answer === 'silent')
    throw new BridgeError('SHUTTING_DOWN', 'No resident bridge runs for this terminal', {
      hint: '`sandbridge status` says why.',
    })
  print('The resident bridge runs until `sandbridge stop`. After an hour without clients, its sandbox and servers end.')
}

/** Resolves when a bridge has answered, or could not. */
async function beClient(): Promise<void> {
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, 'run'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    windowsHide: true,
  })
  child.stdin.on('error', () => {})
  child.stdin.write(FIRST_CLIENT.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''))
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
    // The answer to the last request.
    if (/"id":2\b[^\n]*\n/.test(said)) child.stdin.end()
  })
  await new Promise((resolve) => child.once('close', resolve).once('error', resolve))
}
