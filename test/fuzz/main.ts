// `npm run fuzz -- [FAMILY …] [--seconds 600] [--seed N]`: long runs by hand. The test suite runs some thousand inputs
// of each family.
import { parseArgs } from 'node:util'
import { FAMILIES, fuzz } from './run.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string' } },
})
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32))
for (const name of positionals.length > 0 ? positionals : Object.keys(FAMILIES)) {
  const make = FAMILIES[name]
  if (!make) throw new Error(`No family ${name}. There are: ${Object.keys(FAMILIES).join(', ')}`)
  const count = await fuzz(await make(), { seed, runs: Infinity, seconds: Number(values.seconds) })
  process.stdout.write(`${name}: ${count} inputs, seed ${seed}, no promise broken\n`)
}
