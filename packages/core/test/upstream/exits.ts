// Run by a test in a separate process: starts a server that ignores signals, prints the server's pid, and exits without
// ending it.
import { processContext } from '../../src/config/settings/client-context.ts'
import { createLog } from '../../src/util/log.ts'
import { UpstreamSet } from '../../src/upstream/upstream-set.ts'
import { raw, textOf } from './definitions.ts'

const upstreams = new UpstreamSet({
  context: processContext(),
  definitions: [raw('ignores-signals')],
  log: createLog('error'),
  clientInfo: { name: 'test', version: '1' },
})
process.stdout.write(textOf(await upstreams.callTool('ignores-signals', 'pid', {})), () => process.exit(0))
