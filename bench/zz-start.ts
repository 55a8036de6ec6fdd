import { mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { Kernel } from '../src/kernel/kernel.ts'
import { PyodideProvider } from '../src/sandbox/pyodide/provider.ts'
import { median } from './measure.ts'
import { treeOf } from './cpu.ts'
const cache = process.env.CACHE!
const rss: number[] = [], cpu: number[] = [], wall: number[] = [], pss: number[] = []
const provider = new PyodideProvider({ cacheFolder: cache })
await provider.prepare()
for (let i = 0; i < Number(process.env.R ?? 8); i++) {
  const t = performance.now()
  const k = await Kernel.attach(await provider.start({ memoryBytes: 512 << 20 }))
  wall.push(performance.now() - t)
  await new Promise((ok) => setTimeout(ok, 700))
  const pids = treeOf(process.pid).filter((p) => { try { return readFileSync(`/proc/${p}/cmdline`, 'utf8').includes('child.mjs') && !readFileSync(`/proc/${p}/cmdline`, 'utf8').includes('bwrap') } catch { return false } })
  let c = 0, r = 0, s = 0
  for (const p of pids) {
    const f = readFileSync(`/proc/${p}/stat`, 'utf8').split(') ')[1]!.split(' '); c += (Number(f[11]) + Number(f[12])) * 10
    const roll = readFileSync(`/proc/${p}/smaps_rollup`, 'utf8'); r += Number(/Rss:\s+(\d+)/.exec(roll)![1]) / 1024; s += Number(/Pss:\s+(\d+)/.exec(roll)![1]) / 1024
  }
  rss.push(r); cpu.push(c); pss.push(s)
  await k.dispose()
}
console.log('wall', median(wall).toFixed(0), Math.min(...wall).toFixed(0), 'cpu', median(cpu), Math.min(...cpu), 'rss', median(rss).toFixed(0), 'pss', median(pss).toFixed(0))
process.exit(0)
