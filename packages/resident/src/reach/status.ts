// `sandbridge status` and `sandbridge stop`: the resident bridges of this user.
import { processContext, readSettings } from '@sandbridge/core/config/settings'
import { askResident, findResidents } from '../ask-resident.ts'
import { ago, count, visibleInline } from '@sandbridge/core/util/text'
import { isOffInFile } from '../own-resident.ts'
import { whyNoResident } from '../wants-resident.ts'
import { print, printEmpty, printJson } from '@sandbridge/core/serve/cli/terminal'

/** That no resident runs here, and whether a client starts one. */
export async function noneText(): Promise<string> {
  const reason = whyNoResident() ?? ((await isOffInFile(processContext())) ? 'settings.json says so' : undefined)
  return reason === undefined
    ? 'No resident bridge runs. The next client starts one.'
    : `No resident bridge runs, and clients here start none: ${reason}.`
}

function silentText(socket: string): string {
  return `A resident at ${socket} does not answer. Its clients start another one by themselves.`
}

export async function status({ json = false }: { json?: boolean }): Promise<void> {
  const found = await findResidents(readSettings(process.env).stateDir)
  const at = Date.now()
  if (json) return printJson(found.map((one) => one.status ?? { socket: one.socket, answers: false }))
  if (found.length === 0) return printEmpty(await noneText())
  for (const { socket, status: now } of found) {
    if (!now) {
      print(silentText(socket))
      continue
    }
    const { pid, version, startedAt, log, clients } = now
    print(`Resident ${pid}, version ${version}, started ${ago(startedAt, at)}. Log: ${log}`)
    if (clients.length === 0) print('  No client is connected.')
    for (const client of clients) {
      print(`  client ${client.pid} in ${visibleInline(client.cwd)}, connected ${ago(client.connectedAt, at)}`)
      for (const { server, state, clients: users, reason } of client.servers) {
        print(
          `    ${server}: ${state}, ${users === 1 ? 'for this client alone' : `shared by ${count(users, 'client')}`}`,
        )
        if (reason !== undefined && users === 1) print(`      ${reason}`)
      }
    }
  }
}

export async function stop(): Promise<void> {
  const found = await findResidents(readSettings(process.env).stateDir)
  if (found.length === 0) return printEmpty(await noneText())
  const answers = await Promise.all(found.map(({ socket }) => askResident(socket, { stop: true })))
  // One that nobody reaches any more has ended.
  const silent = found.filter((_, index) => {
    const answer = answers[index]
    return answer === 'silent' || (answer !== undefined && answer['pong'] !== true)
  })
  const stopped = found.length - silent.length
  const isUsed = found.some(({ status: now }) => now !== undefined && now.clients.length > 0)
  const next = isUsed ? ' Clients that are connected go on in new sessions.' : ''
  if (stopped > 0) print(`${count(stopped, 'resident bridge')} will end after the cells that run.${next}`)
  if (silent.length === 0) return
  for (const { socket } of silent) print(silentText(socket))
  process.exitCode = 1
}
