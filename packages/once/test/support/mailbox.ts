// The server mailbox.mjs, whose writes a test can count.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerEntry } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

export interface Mailbox {
  entry: ServerEntry
  /** Every write that has reached it. */
  sent: () => string[]
  /** Resolves when it has got so many. */
  got: (count: number) => Promise<void>
}

/** @param more fields of its entry */
export function mailbox(more: object = {}): Mailbox {
  const folder = newFolder()
  const file = path.join(folder, 'sent.txt')
  writeFileSync(file, '')
  const sent = () => readFileSync(file, 'utf8').split('\n').slice(0, -1)
  const got = async (count: number) => {
    while (sent().length < count) await sleep(10)
  }
  const program = path.join(import.meta.dirname, 'mailbox.mjs')
  return { entry: { command: process.execPath, args: [program, file], ...more }, sent, got }
}

/** Two calls that are answered, some time, and one more. */
export const threeMails = (seconds: number) => `a = await mcp_mail.send(text="one")
b = await mcp_mail.send(text="two")
import time; time.sleep(${seconds})
print(a, b, await mcp_mail.send(text="three"))`

export const THREE_ANSWERS = 'send one is number 1 send two is number 2 send three is number 3'
export const TWO_USED =
  '[sandbridge: 2 calls had been answered before the connection broke; their answers were used again: mail.send (2).]'
