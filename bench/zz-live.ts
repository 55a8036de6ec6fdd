import { closeTestBridge, fixtureServer, openTestBridge } from '/work/trees/quickjs/test/support/bridge-process.ts'
import { runtimeEnv } from '/work/trees/quickjs/test/support/engines.ts'
const bridge = await openTestBridge({
  servers: { github: fixtureServer('documented.mjs', 'github') },
  env: { ...runtimeEnv((process.argv[2] ?? 'bubblewrap') as any), MCP_BRIDGE_LANGUAGES: 'bash,javascript' },
})
const js = async (code: string) => (await bridge.callTool('run_javascript', { code })).text
const time = async (f: () => Promise<unknown>, n = 200) => {
  const t: number[] = []
  for (let i = 0; i < n; i++) {
    const s = performance.now()
    await f()
    t.push(performance.now() - s)
  }
  t.sort((a, b) => a - b)
  return `${t[n >> 1]!.toFixed(2)} (min ${t[0]!.toFixed(2)}, p90 ${t[Math.floor(n * 0.9)]!.toFixed(2)})`
}
console.log(await js('const kept = await github.get_me(); 1'))
for (let round = 0; round < 2; round++) {
  console.log('js live  ', await time(() => js('typeof kept')))
  console.log('js typed ', await time(() => js('const n: number = 1; n'), 60))
  console.log('js call  ', await time(() => js('(await github.get_me()) !== undefined'), 60))
  console.log('py live  ', await time(() => bridge.run('1')))
}
await closeTestBridge(bridge)
