import { expect, test } from 'vitest'
import type { SearchDocument } from './postings.ts'
import { SearchIndex } from './search-index.ts'
import { Thesaurus } from './thesaurus.ts'
import { stem, words } from './tokenize.ts'

function document(server: string, name: string, summary = '', more: Partial<SearchDocument> = {}): SearchDocument {
  return {
    server,
    name,
    summary,
    title: '',
    description: '',
    parameters: [],
    parameterDescriptions: '',
    safety: 0,
    ...more,
  }
}

const TOOLS = [
  document('github', 'create_issue', 'Create a new issue in a repository', {
    parameters: ['owner', 'repo', 'title', 'body'],
  }),
  document('github', 'list_issues', 'List issues in a repository', { parameters: ['state', 'perPage'], safety: 1 }),
  document('github', 'delete_repository', 'Delete a repository', { safety: -1 }),
  document('github', 'get_repository', 'Get a repository', { safety: 1 }),
  document('browser', 'takeScreenshot', 'Capture the visible page', { parameters: ['fullPage'] }),
  document('browser', 'navigate', 'Open a URL'),
  document('k8s', 'scale-deployment', 'Change the number of replicas'),
  document('files', 'read_file', 'Read a file from disk', { safety: 1 }),
]

function indexOf(documents: SearchDocument[]): SearchIndex<string> {
  const index = new SearchIndex<string>()
  for (const one of documents) index.add(`${one.server}.${one.name}`, one)
  return index
}

const index = indexOf(TOOLS)
const names = (query: string, limit = 5): string[] => index.search(query, limit).map(({ item }) => item)

test.each([
  ['create issue', 'github.create_issue'],
  ['creating issues', 'github.create_issue'],
  ['createIssue', 'github.create_issue'],
  ['open a ticket', 'github.create_issue'],
  ['crate isue', 'github.create_issue'],
  ['screen shot', 'browser.takeScreenshot'],
  ['a picture of the page', 'browser.takeScreenshot'],
  ['fullPage', 'browser.takeScreenshot'],
  ['per_page', 'github.list_issues'],
  ['repo removal', 'github.delete_repository'],
  ['deploy', 'k8s.scale-deployment'],
  ['kubernetes', 'k8s.scale-deployment'],
])('%j finds %s', (query, expected) => {
  expect(names(query)[0]).toBe(expected)
})

test.each(['', '   ', '???', 'zzzzqqqq', '🔥', 'the of and', '\ud800', 'x'.repeat(100_000)])(
  '%j finds something',
  (query) => {
    expect(names(query).length).toBeGreaterThan(0)
  },
)

test('with nothing to find there is nothing, not even for a filter', () => {
  expect(new SearchIndex().search('anything', 5)).toEqual([])
  expect(index.search('issue', 5, () => false)).toEqual([])
})

test('of equal tools the one that only reads comes first, the one that destroys last', () => {
  const found = names('repository').filter((name) => /(?:get|delete)_repository/.test(name))
  expect(found).toEqual(['github.get_repository', 'github.delete_repository'])
})

test('one server does not fill the answer when another has something', () => {
  const crowd = Array.from({ length: 20 }, (_, number) => document('crowd', `search_thing_${number}`, 'Search things'))
  const found = indexOf([...crowd, document('lonely', 'notes', 'Notes, with a search')]).search('search thing', 5)
  expect(found.map(({ item }) => item)).toContain('lonely.notes')
  expect(found).toHaveLength(5)
})

test('a server alone may fill it', () => {
  expect(index.search('repository issue', 4, (item) => item.startsWith('github'))).toHaveLength(4)
})

test('the order in which tools came does not matter', () => {
  const other = indexOf(TOOLS.toReversed())
  for (const query of ['issue', 'repository', 'page', 'file disk', '', 'zzz']) {
    expect(other.search(query, 5)).toEqual(index.search(query, 5))
  }
})

test('a word of a thousand letters and a query of a thousand words cost little', () => {
  expect(names('a'.repeat(1000)).length).toBeGreaterThan(0)
  expect(names('issue repository page '.repeat(1000)).length).toBeGreaterThan(0)
})

test.each([
  ['createPullRequest', ['create', 'pull', 'request']],
  ['list-k8s_pods.v2', ['list', 'k8s', 'pods', 'v2']],
  ['HTTPServer URLs', ['http', 'server', 'url']],
  ['Prüfung café', ['prufung', 'cafe']],
  ['検索', ['検索']],
])('the words of %j', (text, expected) => {
  expect(words(text)).toEqual(expected)
})

test.each([
  ['create', 'creating', 'created', 'creates', 'creation'],
  ['delete', 'deleting', 'deleted', 'deletion'],
  ['query', 'queries', 'querying'],
  ['navigate', 'navigation', 'navigating', 'navigated'],
  ['install', 'installs', 'installing', 'installation'],
  ['generate', 'generating', 'generation'],
  ['box', 'boxes'],
  ['stop', 'stopped', 'stopping'],
])('forms of one word have one stem: %s', (...forms) => {
  expect(new Set(forms.map(stem)).size).toBe(1)
})

test.each([['status'], ['process'], ['analysis'], ['class'], ['redis']])('%s is no plural', (word) => {
  expect(stem(word)).not.toBe(stem(word.slice(0, -1)))
})

test('the thesaurus reads groups, directions and comments', () => {
  const thesaurus = new Thesaurus('// a comment\ncat, dog\n\ngive away > donate, gift')
  expect(thesaurus.alternatives(['cat'])).toEqual([{ terms: ['dog'], weight: 0.7 }])
  expect(thesaurus.alternatives(['give', 'awai'])?.map(({ terms }) => terms)).toEqual([['donate'].map(stem), ['gift']])
  expect(thesaurus.alternatives(['gift'])).toBeUndefined()
  expect(thesaurus.longest).toBe(2)
})
