// @module-tag whole: it is about the benchmark, not the product
// The arena with a scripted stand-in for a model, in both APIs: what is asked of it, what is made of its answers, and
// what becomes of its failures.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { modelPlayer, type Endpoint } from '../../bench/arena/endpoint.ts'
import { play, type Outcome } from '../../bench/arena/play.ts'
import { ownTasks } from '../../bench/arena/tasks/own.ts'
import { withItsServersOnly } from '../../bench/arena/task.ts'
import { ROOT } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import { needsWholeRun } from '@sandbridge/core/test/support/suite/needs.ts'
import { runProgram } from '@sandbridge/core/test/support/machine/run-program.ts'
import { startStubEndpoint, type Scene, type StubEndpoint } from './stub-endpoint.ts'
import { newFolder } from '@sandbridge/core/test/support/machine/new-folder.ts'

beforeEach(needsWholeRun)

const TASK = withItsServersOnly(ownTasks()[0]!)
const SUM: Scene = { call: 'everything__get-sum', args: { a: 17, b: 25 } }

async function stub(...script: Scene[]): Promise<StubEndpoint> {
  const endpoint = await startStubEndpoint(script)
  onTestFinished(endpoint.close)
  return endpoint
}

async function played(api: Endpoint['api'], { url }: StubEndpoint): Promise<Outcome> {
  return play(TASK, 'direct', 'stand-in', modelPlayer({ url, api, model: 'stand-in', key: 'sk-secret' }))
}

describe.each(['openai', 'anthropic'] as const)('a model behind an endpoint (%s)', (api) => {
  it('solves a task with streamed calls and answers', async () => {
    const endpoint = await stub(SUM, { say: 'Es sind 42 – fertig ✓' })
    const outcome = await played(api, endpoint)
    expect(outcome).toMatchObject({ turns: 2, calls: 1, errors: 0, usage: { input: 200, output: 20, cached: 80 } })
    expect(outcome.wrong).toBeUndefined()
    const [first, second] = endpoint.asked
    expect(first!.body).toMatchObject({ model: 'stand-in', stream: true })
    expect((first!.body['tools'] as object[]).length).toBeGreaterThan(10)
    expect(JSON.stringify(first!.headers)).toContain('sk-secret')
    const messages = JSON.stringify(second!.body['messages'])
    expect(messages).toContain('The sum of 17 and 25 is 42.')
    // The result names the call that it answers.
    expect(messages.match(api === 'openai' ? /call_1/g : /toolu_1/g)).toHaveLength(2)
  })

  it('is asked again as late as it wishes, when it limits the rate', async () => {
    const endpoint = await stub({ status: 429, retryAfter: '1' }, SUM, { say: '42' })
    expect((await played(api, endpoint)).wrong).toBeUndefined()
    const [first, second] = endpoint.asked
    expect(second!.at - first!.at).toBeGreaterThan(950)
    // A refused request is no turn.
    expect(endpoint.asked).toHaveLength(3)
  })

  it.for(['overloaded', 'cut off', { status: 503 }] as Scene[])('is asked again after a failure: %j', async (scene) => {
    const outcome = await played(api, await stub(scene, SUM, { say: '42' }))
    expect(outcome).toMatchObject({ turns: 2, usage: { input: 200 } })
    expect(outcome.wrong).toBeUndefined()
  })

  it('is told when its arguments are no JSON', async () => {
    const endpoint = await stub('broken arguments', { say: '42' })
    expect(await played(api, endpoint)).toMatchObject({ calls: 1, errors: 1 })
    expect(JSON.stringify(endpoint.asked[1]!.body['messages'])).toContain('not valid JSON')
  })

  it('ends the run with its own words when it refuses a request, without the key', async () => {
    const refused = played(api, await stub({ status: 400 }))
    await expect(refused).rejects.toThrow(/answered 400: .*refused with 400/)
    await expect(refused).rejects.not.toThrow(/sk-secret/)
  })
})

it('a run that was cut off goes on where it stopped', async () => {
  const folder = newFolder()
  const out = path.join(folder, 'out.jsonl')
  const main = path.join(ROOT, 'bench/arena/main.ts')
  const run = async ({ url }: StubEndpoint) => {
    const words = `--ways direct,search --limit 1 --prices 3,15,0.3 --model stand-in --endpoint ${url} --out ${out}`
    const env = { PATH: process.env['PATH'] ?? '' }
    return runProgram(process.execPath, ['--import', 'tsx', main, ...words.split(' ')], env, { cwd: ROOT })
  }
  const broken = await stub(SUM, { say: '42' }, { status: 400 })
  expect((await run(broken)).code).not.toBe(0)
  expect(existsSync(out)).toBe(true)
  // As a crash leaves it.
  writeFileSync(out, `${readFileSync(out, 'utf8')}\n{"task":"one su`)
  const whole = await stub({ call: 'search_tools', args: { queries: ['add two numbers'] } }, SUM, { say: '42' })
  const { code, stdout } = await run(whole)
  expect([code, whole.asked.length]).toEqual([0, 3])
  // (60 × 3 + 40 × 0.3 + 10 × 15) ÷ 10⁶ dollars a request: two of them, and three.
  expect(stdout).toMatch(/direct calls, stand-in \| 1 of 1 \| 2\.0 .* 21 % to 100 % .* 0\.0007 \|/)
  expect(stdout).toMatch(/direct calls, stand-in \| 1 of 1 \| 3\.0 .* 0\.0010 \|/)
})
