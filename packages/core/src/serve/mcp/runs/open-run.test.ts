import { expect, it } from 'vitest'
import { OpenRun } from './open-run.ts'

const QUESTIONS = {
  roots: { method: 'roots/list', params: {} },
  form: { method: 'elicitation/create', params: { mode: 'form' } },
  link: { method: 'elicitation/create', params: { mode: 'url' } },
  sampling: { method: 'sampling/createMessage', params: {} },
  tools: { method: 'sampling/createMessage', params: { tools: [] } },
} as const

it.each([
  [{}, []],
  [{ roots: {} }, ['roots']],
  [{ elicitation: {} }, ['form']],
  [{ elicitation: { form: {} } }, ['form']],
  [{ elicitation: { url: {} } }, ['link']],
  [{ sampling: {} }, ['sampling']],
  [{ sampling: { tools: {} } }, ['sampling', 'tools']],
])('a client that declares %j can answer %j only', (capabilities, able) => {
  const run = new OpenRun(capabilities)
  const questions = Object.entries(QUESTIONS)
  expect(questions.flatMap(([name, question]) => (run.canAnswer(question) ? name : []))).toEqual(able)
})
