// This file verifies who is asked what a server asks: the client of the cell that calls it, and nobody when that could be either of two.
import { expect, it } from 'vitest'
import { type Asker, Questions } from './questions.ts'

class FakeAsker implements Asker {
  asked = 0

  canAnswer(): boolean {
    return true
  }

  ask(): Promise<Record<string, unknown>> {
    this.asked += 1
    return Promise.resolve({ action: 'accept' })
  }

  hold<T>(work: Promise<T>): Promise<T> {
    return work
  }
}

async function elicit(questions: Questions): Promise<unknown> {
  questions.clientOffers(['elicitation/create'])
  return questions.requests().elicit!('s', { message: 'Which?' }, AbortSignal.timeout(5_000))
}

it('the client whose cell calls the server is asked', async () => {
  const questions = new Questions()
  const asker = new FakeAsker()
  const other = new FakeAsker()
  const session = {}
  await questions.during('s', { asker, session }, () =>
    questions.during('another', { asker: other, session: {} }, async () => {
      expect(await elicit(questions)).toEqual({ action: 'accept' })
    }),
  )
  expect([asker.asked, other.asked]).toEqual([1, 0])
})

it('two calls of one session: the later one is asked', async () => {
  const questions = new Questions()
  const session = {}
  const [first, second] = [new FakeAsker(), new FakeAsker()]
  await questions.during('s', { asker: first, session }, () =>
    questions.during('s', { asker: second, session }, () => elicit(questions)),
  )
  expect([first.asked, second.asked]).toEqual([0, 1])
})

it('while two sessions call the server, neither client is asked what may be the other one’s', async () => {
  const questions = new Questions()
  const [first, second] = [new FakeAsker(), new FakeAsker()]
  await questions.during('s', { asker: first, session: {} }, async () => {
    await questions.during('s', { asker: second, session: {} }, async () => {
      expect(await elicit(questions)).toEqual({ action: 'decline' })
    })
    expect([first.asked, second.asked]).toEqual([0, 0])
    expect(await elicit(questions)).toEqual({ action: 'accept' })
  })
  expect([first.asked, second.asked]).toEqual([1, 0])
})

it('servers that start later are told of what any client can answer', () => {
  const questions = new Questions()
  expect(questions.requests()).toEqual({})
  questions.clientOffers(['roots/list'])
  questions.clientOffers([])
  expect(Object.keys(questions.requests())).toEqual(['roots'])
})
