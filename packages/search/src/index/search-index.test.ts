import { describe, expect, it } from 'vitest'
import type { SearchDocument } from './fields.ts'
import { SearchIndex } from './search-index.ts'
import { stem, words } from './tokenize.ts'
import { readMeanings } from '../known-meanings.ts'
import type { Meanings } from '../meanings.ts'

function document(server: string, name: string, summary = '', more: Partial<SearchDocument> = {}): SearchDocument {
  return {
    server,
    name,
    summary,
    title: '',
    description: '',
    parameters: [],
    nestedParameters: [],
    parameterTexts: [],
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

function indexOf(documents: SearchDocument[], meanings?: Meanings): SearchIndex<string> {
  const index = new SearchIndex<string>(meanings)
  for (const one of documents) index.add(`${one.server}.${one.name}`, one)
  return index
}

const index = indexOf(TOOLS)
const names = (query: string, limit = 5): string[] =>
  index
    .rank(query)
    .best(limit)
    .map(({ item }) => item)

it.each([
  ['create issue', 'github.create_issue'],
  ['creating issues', 'github.create_issue'],
  ['createIssue', 'github.create_issue'],
  ['crate isue', 'github.create_issue'],
  ['screen shot', 'browser.takeScreenshot'],
  ['fullPage', 'browser.takeScreenshot'],
  ['per_page', 'github.list_issues'],
  ['deploy', 'k8s.scale-deployment'],
])('the query %j finds %s', (query, expected) => {
  expect(names(query)[0]).toBe(expected)
})

it.each(['', '   ', '???', 'zzzzqqqq', '🔥', 'the of and', '\ud800', 'x'.repeat(100_000)])(
  'the query %j finds a tool',
  (query) => {
    expect(names(query).length).toBeGreaterThan(0)
  },
)

it('a query without words finds nothing, even with a filter', () => {
  expect(new SearchIndex().rank('anything').best(5)).toEqual([])
  expect(index.rank('issue').best(5, () => false)).toEqual([])
})

it('among tools that match equally, a read-only one comes first and a destructive one last', () => {
  const found = names('repository').filter((name) => /(?:get|delete)_repository/.test(name))
  expect(found).toEqual(['github.get_repository', 'github.delete_repository'])
})

it('a word in a name counts more than a description that repeats it', () => {
  const told = document('mail', 'send', '', { description: 'An invoice, invoice, invoice, invoice, invoice.' })
  const found = indexOf([...TOOLS, told, document('shop', 'list_invoices')])
    .rank('invoice')
    .best(2)
  expect(found.map(({ item }) => item)).toEqual(['shop.list_invoices', 'mail.send'])
})

it('the order in which tools were added does not change the results', () => {
  const other = indexOf(TOOLS.toReversed())
  for (const query of ['issue', 'repository', 'page', 'file disk', '', 'zzz']) {
    expect(other.rank(query).best(5)).toEqual(index.rank(query).best(5))
  }
})

it('a word of a thousand letters and a query of a thousand words take little time', () => {
  expect(names('a'.repeat(1000)).length).toBeGreaterThan(0)
  expect(names('issue repository page '.repeat(1000)).length).toBeGreaterThan(0)
})

it.each([
  ['createPullRequest', ['create', 'pull', 'request']],
  ['list-k8s_pods.v2', ['list', 'k8s', 'pods', 'v2']],
  ['HTTPServer URLs', ['http', 'server', 'url']],
  ['Prüfung café', ['prufung', 'cafe']],
  ['検索', ['検索']],
])('the words of %j are found', (text, expected) => {
  expect(words(text)).toEqual(expected)
})

it.each([
  ['create', 'creating', 'created', 'creates', 'creation'],
  ['delete', 'deleting', 'deleted', 'deletion'],
  ['query', 'queries', 'querying'],
  ['navigate', 'navigation', 'navigating', 'navigated'],
  ['install', 'installs', 'installing', 'installation'],
  ['generate', 'generating', 'generation'],
  ['box', 'boxes'],
  ['stop', 'stopped', 'stopping'],
  ['add', 'adds', 'added', 'adding'],
  ['move', 'moves', 'moved', 'moving'],
  ['plan', 'plans', 'planned', 'planning'],
  ['plane', 'planes'],
  ['scrape', 'scraping', 'scraped'],
])('forms of one word have one stem: %s', (...forms) => {
  expect(new Set(forms.map(stem)).size).toBe(1)
})

it.each([
  ['plane', 'plan'],
  ['state', 'stats'],
  ['globe', 'glob'],
  ['stripe', 'strip'],
])('%s is no form of %s', (one, other) => {
  expect(stem(one)).not.toBe(stem(other))
})

it.each([['status'], ['process'], ['analysis'], ['class'], ['redis']])(
  'the word %s is not taken for a plural',
  (word) => {
    expect(stem(word)).not.toBe(stem(word.slice(0, -1)))
  },
)

it('a slip of the pen is corrected, and a word that no tool uses is not taken for another one', () => {
  const tools = indexOf([document('server', 'reboot', 'Start again'), document('issues', 'create_issue')])
  const finds = (query: string): string[] =>
    tools
      .rank(query)
      .matching(5)
      .map(({ item }) => item)
  for (const query of ['rebot', 'rebooot', 'reobot']) expect([query, finds(query)]).toEqual([query, ['server.reboot']])
  for (const query of ['crate isue', 'creat issie'])
    expect([query, finds(query)]).toEqual([query, ['issues.create_issue']])
  for (const query of ['retoot', 'repoot', 'rehoot']) expect([query, finds(query)]).toEqual([query, []])
})

it('a misspelt word that is another word is corrected, but not to a word of another length', async () => {
  const tools = indexOf(
    [
      document('files', 'write_file', 'Write the contents of a file'),
      document('files', 'read_file', 'Read the contents of a file'),
    ],
    await readMeanings(),
  )
  expect(
    tools
      .rank('reed fiel contens')
      .best(2)
      .map(({ item }) => item),
  ).toEqual(['files.read_file', 'files.write_file'])
  expect(
    indexOf([document('todo', 'plan')], await readMeanings())
      .rank('plane')
      .matching(5),
  ).toEqual([])
})

it('the letters after an apostrophe are no word', () => {
  const tools = indexOf([document('shop', 'donate', 'T-shirts'), document('files', 'save', 'Save a site')])
  expect(tools.rank("don't save the site's files").best(1)[0]?.item).toBe('files.save')
  expect(tools.rank("don't").matching(5)).toEqual([])
})

it('words around an amount or a comma are no phrase', () => {
  const tools = indexOf([document('account', 'login'), document('expenses', 'log_expense')])
  const finds = (query: string): string[] =>
    tools
      .rank(query)
      .matching(5)
      .map(({ item }) => item)
  expect(finds('log in')).toContain('account.login')
  expect(finds('Log 12 euros in my list of trips')).toEqual(['expenses.log_expense'])
  expect(finds('log, in')).toEqual(['expenses.log_expense'])
})

it('words are found inside compound names, and compound names by their words', () => {
  const found = indexOf([document('a', 'export', 'Writes BibTeX'), document('b', 'query', 'Evaluates PromQL')])
  expect(found.rank('bibtex').best(1)[0]?.item).toBe('a.export')
  expect(found.rank('promql').best(1)[0]?.item).toBe('b.query')
})

it('a synonym in a name does not outweigh the word itself', () => {
  const tools = [document('a', 'remove', 'Gone for good'), document('b', 'act', 'Delete')]
  expect(indexOf(tools).rank('delete').best(1)[0]?.item).toBe('b.act')
})

describe('texts without spaces between words', () => {
  const tools = [
    document('地图', 'maps_weather', '根据城市名称或者标准adcode查询指定城市的天气'),
    document('地图', 'maps_geo', '将详细的结构化地址转换为经纬度坐标'),
    document('办公', 'todo', '为指定用户创建一条新的待办任务'),
    document('办公', 'approve', '审批流程:同意或拒绝请假申请'),
    document('calendar', 'events', 'カレンダーから今週の予定を取得します'),
    document('calendar', 'remind', '指定した時間にリマインダーを送信します'),
    document('bank', 'rates', 'ดูอัตราแลกเปลี่ยนเงินตราล่าสุด'),
    document('bank', 'branches', 'ค้นหาสาขาธนาคารใกล้ฉัน'),
    document('github', 'create_issue', 'Create a new issue in a repository'),
  ]
  const found = indexOf(tools)

  it.each([
    ['天气', 'maps_weather'],
    ['查询城市的天气', 'maps_weather'],
    ['地址转换为坐标', 'maps_geo'],
    ['创建待办任务', 'todo'],
    ['请假审批', 'approve'],
    ['今週の予定', 'events'],
    ['リマインダー', 'remind'],
    ['อัตราแลกเปลี่ยน', 'rates'],
    ['สาขาธนาคาร', 'branches'],
    ['用adcode', 'maps_weather'],
    ['create issue', 'create_issue'],
  ])('the query %s finds %s', (query, expected) => {
    expect(found.rank(query).best(1)[0]?.item).toMatch(new RegExp(`\\.${expected}$`))
  })

  it('each two characters that follow each other are a word, wherever a text is long', () => {
    expect(words('查询天气')).toEqual(['查询', '询天', '天气'])
    expect(words('用adcode查天气')).toEqual(['用', 'adcode', '查天', '天气'])
    expect(words(`${'一'.repeat(100)}天气`).at(-1)).toBe('天气')
    // Other scripts have spaces.
    expect(words('поиск писем')).toEqual(['поиск', 'писем'])
  })
})
