// `sandbridge trust`: allow the servers that a project's own config files define. A project is someone else's command line until its owner says otherwise.
import { readFile } from 'node:fs/promises'
import { describeServers } from '../config/describe-servers.ts'
import { createTrustStore } from '../config/trust.ts'
import { confirm } from './confirm.ts'
import { withBridge } from './open-bridge.ts'
import { print } from './print.ts'

interface TrustOptions {
  yes?: boolean
  remove?: string
  list?: boolean
}

export async function trust(options: TrustOptions): Promise<void> {
  await withBridge(async ({ settings, discovered }) => {
    const store = createTrustStore(settings.stateDir)
    if (options.list) return print((await store.list()).join('\n') || 'No project file is trusted.')
    if (options.remove !== undefined) {
      const had = await store.untrust(options.remove)
      return print(had ? `${options.remove} is no longer trusted.` : `${options.remove} was not trusted.`)
    }
    const files = new Set(discovered.untrusted.map((server) => server.source.file))
    if (files.size === 0) return print('There is nothing here to trust.')
    for (const file of files) {
      // What is shown is what is trusted: a file that changes in between asks again.
      const text = await readFile(file, 'utf8')
      print(`${file} defines:`)
      const servers = discovered.untrusted.filter((server) => server.source.file === file)
      for (const { name, type, command, argsCount, origin } of describeServers(servers)) {
        print(`  ${name}: ${type === 'stdio' ? `runs ${command} with ${argsCount} arguments` : origin}`)
      }
      if (options.yes || (await confirm(`Allow these servers to be started? Read ${file} first. [y/N] `))) {
        await store.trust(file, text)
        print('Trusted. It asks again when the file changes.')
      }
    }
  })
}
