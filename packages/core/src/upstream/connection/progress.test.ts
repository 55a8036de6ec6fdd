import { expect, it } from 'vitest'
import { routeProgress } from './progress.ts'

const report = (progressToken: number) =>
  ({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress: 1 } }) as const

it('the progress token of a call cannot be guessed from that of another call', () => {
  const routes = routeProgress()
  const heard: string[] = []
  const tokens = Array.from({ length: 20 }, (_, call) => routes.add(() => heard.push(`call ${call}`)).token)
  const steps = tokens.slice(1).map((token, at) => Math.abs(token - tokens[at]!))
  expect(Math.min(...steps)).toBeGreaterThan(1)
  routes.receive!(report(tokens[3]!))
  routes.receive!(report(tokens[3]! + 1))
  expect(heard).toEqual(['call 3'])
})
