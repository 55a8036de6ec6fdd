import { Driver } from '../test/kernel/drive.ts'
import { startPlainPython } from '../test/support/plain-python.ts'
import { languageFiles } from '../src/languages/language-files.ts'
const files = await languageFiles('javascript')
const k = new Driver(startPlainPython())
await k.ready()
const js = (code: string) => k.run(code, { language: 'javascript', servers: [], onCall: () => ({ value: files }) })
const time = async (name: string, f: () => Promise<unknown>, n = 300) => {
  const t: number[] = []
  for (let i = 0; i < n; i++) {
    const s = performance.now()
    await f()
    t.push(performance.now() - s)
    await new Promise((r) => setTimeout(r, 2))
  }
  t.sort((a, b) => a - b)
  console.log(
    name,
    `min ${t[0]!.toFixed(2)} p25 ${t[n >> 2]!.toFixed(2)} med ${t[n >> 1]!.toFixed(2)} p90 ${t[Math.floor(n * 0.9)]!.toFixed(2)}`,
  )
}
await js('1')
for (let i = 0; i < 2; i++) {
  await time('python', () => k.run('1', { servers: [] }))
  await time('js    ', () => js('typeof kept'))
}
await k.sandbox.dispose()
