import { expect, it } from 'vitest'
import { editDistance, didYouMean, didYouMeanText } from './did-you-mean.ts'

const NAMES = [
  'create_issue',
  'update_issue',
  'create_branch',
  'get_pull_request_reviews',
  'search_repositories',
  'id',
  'q',
]

it.each([
  ['creat_issue', ['create_issue']],
  ['createIssue', ['create_issue']],
  ['issue_create', ['create_issue']],
  ['ISSUE-UPDATE', ['update_issue']],
  ['pull_request_reviews', ['get_pull_request_reviews']],
  ['create_ticket', []],
  ['di', []],
  ['', []],
  ['something_else_entirely', []],
  ['x'.repeat(100_000), []],
  // Only the beginning counts, also of its words.
  [`issue_create${' '.repeat(100)}branch other words of a long text`, ['create_issue']],
])('the wrong name %j may mean %j', (wrong, expected) => {
  expect(didYouMean(wrong, NAMES, 1)).toEqual(expected)
})

it('the text of did-you-mean names the nearest, or is empty', () => {
  expect(didYouMeanText('titel', ['title', 'body'])).toBe('Did you mean title?')
  expect(didYouMeanText('zzz', ['title', 'body'])).toBe('')
})

it.each([
  ['', '', 0],
  ['abc', 'abc', 0],
  ['abc', 'acb', 1],
  ['abc', 'abd', 1],
  ['abc', 'ab', 1],
  ['abc', 'xyz', 3],
  ['kitten', 'sitting', 3],
])('from %j to %j are %i edits', (a, b, edits) => {
  expect(editDistance(a, b, 5)).toBe(edits)
  expect(editDistance(b, a, 5)).toBe(edits)
})

it('an edit distance over the limit is one more than it', () => {
  expect(editDistance('abc', 'xyz', 1)).toBe(2)
  expect(editDistance('a', 'abcdef', 2)).toBe(3)
})
