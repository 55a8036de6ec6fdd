// This file verifies that a catalog tells its changes to no client that is gone. A bridge that serves many would keep
// each of them otherwise.
import { expect, it } from 'vitest'
import { useHttpBridge } from '@sandbridge/http/test/support/raw-http.ts'
import { message, modern } from '@sandbridge/core/test/support/bridges/raw-request.ts'
import { until } from '@sandbridge/core/test/support/machine/processes.ts'
import { offerTools } from '../../packages/direct/src/offer.ts'

const { serve, bridge } = useHttpBridge()
const DIRECT = '/mcp?tools=direct'

it.each(['modern', 'older'])('a catalog does not tell a %s client that is gone', async (era) => {
  const { send } = await serve({ offers: [offerTools] })
  const { catalog } = (await bridge().tenants.of(undefined).now()).connected
  const before = catalog.onChange.size
  let most = before
  const add = catalog.onChange.add.bind(catalog.onChange)
  catalog.onChange.add = (told) => {
    add(told)
    most = Math.max(most, catalog.onChange.size)
    return catalog.onChange
  }
  if (era === 'modern') {
    for (let n = 0; n < 3; n += 1) await send({ path: DIRECT, ...modern('tools/list') })
  } else {
    const session = String((await send({ path: DIRECT })).headers['mcp-session-id'])
    const headers = { 'mcp-session-id': session }
    for (let n = 0; n < 3; n += 1) await send({ path: DIRECT, headers, body: message('tools/list', {}) })
    expect(catalog.onChange.size).toBe(before + 1)
    await send({ path: DIRECT, method: 'DELETE', headers })
  }
  // It was told while the client was there.
  expect(most).toBeGreaterThan(before)
  await until(() => catalog.onChange.size === before)
})
