import { expect, it } from 'vitest'
import { alikeness, wordingOf } from './wording.ts'

const common = new Set(
  'create an issue for the send message user reset password open ticket repository horse mark rose'.split(' '),
)
const isKnown = (word: string): boolean => common.has(word)

it.each([
  ['create an issue', ['creat', 'issu']],
  ['Create issue', ['creat', 'issu']],
  ['create_issue', ['creat', 'issu']],
  ['open ticket (repository)', ['open', 'repositori', 'ticket']],
])('the wording of %j is %j', (text, expected) => {
  expect(wordingOf(text, isKnown)).toEqual(expected)
})

it.each([
  ['send message to ada.lovelace@example.org'],
  ['send message to Ada Lovelace'],
  ['send message ghp_A1b2C3d4E5f6'],
  ['send message "create an issue"'],
  ["send message 'create issue'"],
  ['send message `reset`'],
  ['send message +44 20 7946 0958'],
  ['send message /home/user/issue'],
  ['send message https://horse/ticket'],
  ['send message id=issue'],
  ['send message zanzibar'],
  ['send message "unclosed horse'],
])('no value is kept of %j', (text) => {
  expect(wordingOf(text, isKnown)).toEqual(['messag', 'send'])
})

it('a secret made of common words is not kept', () => {
  expect(wordingOf('reset password horse ticket repository', isKnown)).toEqual(['password', 'reset'])
  expect(wordingOf('reset horse ticket', isKnown)).toEqual(['hors', 'reset', 'ticket'])
})

it.each([
  'password: horse ticket',
  'password=horse ticket',
  'recovery phrase: horse',
  '(password) horse ticket',
  '“password”: horse ticket',
  '*Password* horse ticket',
  'password—horse ticket',
  'PASSWORDS: horse ticket',
  'the_password, horse ticket',
  'reset/password horse ticket',
  'mot de passe : horse ticket',
  'Passwort: horse ticket',
  'api_key: horse ticket',
  'PIN: horse ticket',
  '`password` horse ticket password: horse',
])('what follows a word for a secret is not kept: %s', (text) => {
  expect(wordingOf(`open ${text} repository`, isKnown)).not.toEqual(expect.arrayContaining(['repositori']))
})

it('a secret before its name is not kept, and words of the tool are', () => {
  const isOwn = (word: string): boolean => word === 'ticket'
  expect(wordingOf('open ticket, horse is the password', isKnown, isOwn)).toEqual(['ticket'])
  expect(wordingOf('open ticket, horse is the send', isKnown, isOwn)).toEqual(['hors', 'open', 'send', 'ticket'])
})

it('a name in lower case that is made of common words is not kept, and words of the tool are', () => {
  const isOwn = (word: string): boolean => word === 'repository'
  expect(wordingOf('send message to mark rose', isKnown, isOwn)).toEqual(['messag', 'send'])
  expect(wordingOf('open ticket for mark in repository', isKnown, isOwn)).toEqual(['open', 'repositori', 'ticket'])
  expect(wordingOf('open ticket for repository', isKnown, isOwn)).toEqual(['open', 'repositori', 'ticket'])
  expect(wordingOf('open ticket for the horse', isKnown, isOwn)).toEqual(['hors', 'open', 'ticket'])
})

it('a wording is short, whatever was searched for', () => {
  const many = Array.from({ length: 10_000 }, (_, at) => `w${String.fromCharCode(97 + (at % 26), 97 + (at % 25))}`)
  expect(wordingOf(many.join(' ')).length).toBeLessThanOrEqual(8)
  expect(wordingOf('x'.repeat(1_000_000))).toEqual([])
})

it('two wordings are as alike as they share words', () => {
  expect(alikeness(['creat', 'issu'], ['creat', 'issu'])).toBe(1)
  expect(alikeness(['creat', 'issu'], ['list', 'issu'])).toBe(0.5)
  expect(alikeness([], [])).toBe(0)
})
