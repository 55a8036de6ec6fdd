// Twelve tasks over published servers, from one call to three hundred.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { published } from '@sandbridge/core/test/support/bridges/bridge-process.ts'
import type { Exchange, GoldCall, Task } from '../task.ts'

/** A task before its folder is made. */
interface Draft {
  id: string
  isLarge?: boolean
  /** Writes the data. */
  prepare?: (folder: string) => void
  exchange: (folder: string) => Exchange
  check: (end: End) => string | undefined
}

/** What a checker looks at. */
interface End {
  folder: string
  answer: string
  /** The knowledge graph: its entities and relations. */
  graph: { type: string; name?: string; observations?: string[]; from?: string; to?: string; relationType?: string }[]
}

const files = (tool: string, args: Record<string, unknown>): GoldCall => ({ server: 'files', tool, args })
const memory = (tool: string, args: Record<string, unknown>): GoldCall => ({ server: 'memory', tool, args })
const sum = (a: number, b: number): GoldCall => ({ server: 'everything', tool: 'get-sum', args: { a, b } })
const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

const says = (answer: string, ...texts: string[]): string | undefined => {
  const missing = texts.filter((text) => !answer.replaceAll(/(?<=\d),(?=\d{3})/g, '').includes(text))
  return missing.length > 0 ? `the answer does not have ${missing.join(', ')}` : undefined
}
const holds = (file: string, expected: string): string | undefined => {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : undefined
  return text?.trim() === expected.trim()
    ? undefined
    : `${path.basename(file)} is ${JSON.stringify(text?.slice(0, 200))}`
}

const REGIONS = ['north', 'south', 'east']
const ledger = (): string =>
  `date,region,customer,amount\n${range(2_000)
    .map((i) => `2026-10-${10 + (i % 20)},${REGIONS[i % 3]},customer ${(i * 37) % 500},${((i * 7919) % 10_000) / 100}`)
    .join('\n')}\n`
/** Cents, since sums of floats differ by the order. */
const southCents = range(2_000).reduce((cents, i) => cents + (i % 3 === 1 ? (i * 7919) % 10_000 : 0), 0)
const amounts = range(24).map((i) => ((i * 37) % 50) + 1)
const total = amounts.reduce((a, b) => a + b)
const pairs = range(299).map((i): [number, number] => [(i * 53) % 100, (i * 31) % 100])
const over = pairs.filter(([a, b]) => a + b > 150).length
const kinds = ['invoice', 'letter', 'photo']
const kindOf = (i: number): string => kinds[(i * 7) % 3]!
const customers = range(100).map((i) => ({ name: `Customer ${i}`, owed: (i * 17) % 90 }))
const letter = ({ name, owed }: { name: string; owed: number }): string => `Dear ${name}, you owe ${owed} EUR.`
const versions = range(10).map((i) => `module-${i}.toml`)

const DRAFTS: Draft[] = [
  {
    id: 'one sum',
    exchange: () => ({
      prompt: 'Add 17 and 25 with the sum tool of the server "everything". What is the sum?',
      steps: [[sum(17, 25)]],
      cell: 'await mcp_everything.get_sum(a=17, b=25)',
      queries: ['add two numbers', 'sum'],
      answer: '42',
    }),
    check: ({ answer }) => says(answer, '42'),
  },
  {
    id: 'one small file',
    prepare: (folder) => writeFileSync(path.join(folder, 'motto.txt'), 'Nothing is lost.\n'),
    exchange: (folder) => ({
      prompt: `What does the file ${folder}/motto.txt say?`,
      steps: [[files('read_text_file', { path: `${folder}/motto.txt` })]],
      cell: `await mcp_files.read_text_file(path="${folder}/motto.txt")`,
      queries: ['read text file', 'file contents'],
      answer: 'Nothing is lost.',
    }),
    check: ({ answer }) => says(answer, 'Nothing is lost'),
  },
  {
    id: 'one note',
    exchange: (folder) => ({
      prompt: `Write "Call Ada at nine." into the file ${folder}/note.txt.`,
      steps: [[files('write_file', { path: `${folder}/note.txt`, content: 'Call Ada at nine.' })]],
      cell: `await mcp_files.write_file(path="${folder}/note.txt", content="Call Ada at nine.")`,
      queries: ['write file', 'create text file'],
      answer: 'Done.',
    }),
    check: ({ folder }) => holds(path.join(folder, 'note.txt'), 'Call Ada at nine.'),
  },
  {
    id: 'one large file',
    isLarge: true,
    prepare: (folder) => writeFileSync(path.join(folder, 'ledger.csv'), ledger()),
    exchange: (folder) => ({
      prompt: `What is the sum of the amounts of region south in ${folder}/ledger.csv, to the cent? Its columns are date, region, customer and amount.`,
      steps: [[files('read_text_file', { path: `${folder}/ledger.csv` })]],
      cell: `import csv
text = await mcp_files.read_text_file(path="${folder}/ledger.csv")
round(sum(float(row["amount"]) for row in csv.DictReader(text.splitlines()) if row["region"] == "south"), 2)`,
      queries: ['read text file', 'file contents'],
      answer: (southCents / 100).toFixed(2),
    }),
    check: ({ answer }) => says(answer, (southCents / 100).toFixed(2)),
  },
  {
    id: 'a card to remember',
    prepare: (folder) => writeFileSync(path.join(folder, 'card.txt'), 'Ada Lovelace\nmathematician\nLondon\n'),
    exchange: (folder) => ({
      prompt: `Read ${folder}/card.txt: a name, a profession and a city, a line each. Remember the person in the knowledge graph: an entity of type person, with profession and city as observations.`,
      steps: [
        [files('read_text_file', { path: `${folder}/card.txt` })],
        [
          memory('create_entities', {
            entities: [{ name: 'Ada Lovelace', entityType: 'person', observations: ['mathematician', 'London'] }],
          }),
        ],
      ],
      cell: `name, *facts = (await mcp_files.read_text_file(path="${folder}/card.txt")).splitlines()
await mcp_memory.create_entities(entities=[{"name": name, "entityType": "person", "observations": facts}])`,
      queries: ['read text file', 'create entities in knowledge graph'],
      answer: 'Done.',
    }),
    check: ({ graph }) => {
      const ada = graph.find(({ name }) => name === 'Ada Lovelace')
      return ada?.observations?.toSorted().join() === 'London,mathematician'
        ? undefined
        : `Ada is ${JSON.stringify(ada)}`
    },
  },
  {
    id: 'three reports',
    prepare: (folder) => {
      for (const [at, region] of REGIONS.entries())
        writeFileSync(
          path.join(folder, `${region}.csv`),
          `day,amount\n${range(100)
            .map((i) => `${i},${(i * 13 + at * 5) % 97}`)
            .join('\n')}\n`,
        )
    },
    exchange: (folder) => ({
      prompt: `In ${folder} are reports as CSV files, one for each region, with the columns day and amount. Write the name of the region with the largest sum, and nothing else, into ${folder}/best.txt.`,
      steps: [
        [files('list_directory', { path: folder })],
        [files('read_multiple_files', { paths: REGIONS.map((region) => `${folder}/${region}.csv`) })],
        [files('write_file', { path: `${folder}/best.txt`, content: bestRegion() })],
      ],
      cell: `import csv
totals = {}
for line in (await mcp_files.list_directory(path="${folder}")).splitlines():
    name = line.split()[-1]
    text = await mcp_files.read_text_file(path="${folder}/" + name)
    totals[name.removesuffix(".csv")] = sum(int(row["amount"]) for row in csv.DictReader(text.splitlines()))
await mcp_files.write_file(path="${folder}/best.txt", content=max(totals, key=totals.get))`,
      queries: ['list directory', 'read several files', 'write file'],
      answer: 'Done.',
    }),
    check: ({ folder }) => holds(path.join(folder, 'best.txt'), bestRegion()),
  },
  {
    id: 'a small graph',
    exchange: () => {
      const entities = ['Oslo', 'Bergen', 'Hamar'].map((name) => ({
        name,
        entityType: 'city',
        observations: [] as string[],
      }))
      const relations = [
        { from: 'Oslo', to: 'Bergen', relationType: 'railway to' },
        { from: 'Oslo', to: 'Hamar', relationType: 'railway to' },
      ]
      const observations = [{ entityName: 'Oslo', contents: ['capital of Norway'] }]
      return {
        prompt:
          'Add the cities Oslo, Bergen and Hamar to the knowledge graph (entity type "city"), relations "railway to" from Oslo to both others, and the observation "capital of Norway" to Oslo. Then search the graph for "capital": which node does it find?',
        steps: [
          [memory('create_entities', { entities })],
          // This server loses one of two writes that come at the same time.
          [memory('create_relations', { relations })],
          [memory('add_observations', { observations })],
          [memory('search_nodes', { query: 'capital' })],
        ],
        cell: `await mcp_memory.create_entities(entities=[{"name": n, "entityType": "city", "observations": []} for n in ("Oslo", "Bergen", "Hamar")])
await mcp_memory.create_relations(relations=[{"from": "Oslo", "to": n, "relationType": "railway to"} for n in ("Bergen", "Hamar")])
await mcp_memory.add_observations(observations=[{"entityName": "Oslo", "contents": ["capital of Norway"]}])
[node["name"] for node in (await mcp_memory.search_nodes(query="capital"))["entities"]]`,
        queries: ['create entities in knowledge graph', 'create relations', 'add observations', 'search nodes'],
        answer: 'Oslo',
      }
    },
    check: ({ graph, answer }) => {
      const relations = graph.filter(({ type }) => type === 'relation').map(({ from, to }) => `${from}-${to}`)
      if (relations.toSorted().join() !== 'Oslo-Bergen,Oslo-Hamar') return `the relations are ${relations.join()}`
      return says(answer, 'Oslo')
    },
  },
  {
    id: 'ten versions',
    prepare: (folder) => {
      for (const name of versions) writeFileSync(path.join(folder, name), `name = "${name}"\nversion = "1.2.0"\n`)
    },
    exchange: (folder) => ({
      prompt: `In each of the TOML files in ${folder}, change version = "1.2.0" to version = "1.3.0".`,
      steps: [
        [files('list_directory', { path: folder })],
        versions.map((name) =>
          files('edit_file', {
            path: `${folder}/${name}`,
            edits: [{ oldText: 'version = "1.2.0"', newText: 'version = "1.3.0"' }],
          }),
        ),
      ],
      cell: `for line in (await mcp_files.list_directory(path="${folder}")).splitlines():
    await mcp_files.edit_file(path="${folder}/" + line.split()[-1], edits=[{"oldText": 'version = "1.2.0"', "newText": 'version = "1.3.0"'}])`,
      queries: ['list directory', 'edit file'],
      answer: 'Done.',
    }),
    check: ({ folder }) =>
      versions
        .map((name) => holds(path.join(folder, name), `name = "${name}"\nversion = "1.3.0"`))
        .find((wrong) => wrong !== undefined),
  },
  {
    id: 'a running total',
    prepare: (folder) => writeFileSync(path.join(folder, 'amounts.txt'), `${amounts.join('\n')}\n`),
    exchange: (folder) => ({
      prompt: `Add up the numbers in ${folder}/amounts.txt, a line each, with the sum tool of the server "everything", one after the other: each call adds the next number to the sum so far, beginning with 0. What is the total?`,
      steps: [
        [files('read_text_file', { path: `${folder}/amounts.txt` })],
        ...amounts.map((amount, at) => [
          sum(
            amounts.slice(0, at).reduce((a, b) => a + b, 0),
            amount,
          ),
        ]),
      ],
      cell: `total = 0
for line in (await mcp_files.read_text_file(path="${folder}/amounts.txt")).splitlines():
    total = int((await mcp_everything.get_sum(a=total, b=int(line))).rstrip(".").split()[-1])
total`,
      queries: ['read text file', 'add two numbers'],
      answer: String(total),
    }),
    check: ({ answer }) => says(answer, String(total)),
  },
  {
    id: 'fifty files to sort',
    prepare: (folder) => {
      for (const i of range(50))
        writeFileSync(path.join(folder, `scan-${i}.txt`), `${kindOf(i)}\nscanned on day ${i}\n`)
    },
    exchange: (folder) => ({
      prompt: `The first line of each of the fifty files in ${folder} is invoice, letter or photo. Move each file into a folder of that name beside it. The folders do not exist yet.`,
      steps: [
        [files('list_directory', { path: folder })],
        [
          files('read_multiple_files', { paths: range(50).map((i) => `${folder}/scan-${i}.txt`) }),
          ...kinds.map((kind) => files('create_directory', { path: `${folder}/${kind}` })),
        ],
        range(50).map((i) =>
          files('move_file', {
            source: `${folder}/scan-${i}.txt`,
            destination: `${folder}/${kindOf(i)}/scan-${i}.txt`,
          }),
        ),
      ],
      cell: `for line in (await mcp_files.list_directory(path="${folder}")).splitlines():
    name = line.split()[-1]
    kind = (await mcp_files.read_text_file(path="${folder}/" + name)).split()[0]
    await mcp_files.create_directory(path=f"${folder}/{kind}")
    await mcp_files.move_file(source=f"${folder}/{name}", destination=f"${folder}/{kind}/{name}")`,
      queries: ['list directory', 'read several files', 'create directory', 'move file'],
      answer: 'Done.',
    }),
    check: ({ folder }) => {
      for (const kind of kinds) {
        const expected = range(50)
          .filter((i) => kindOf(i) === kind)
          .map((i) => `scan-${i}.txt`)
        const found = existsSync(path.join(folder, kind)) ? readdirSync(path.join(folder, kind)) : []
        if (found.toSorted().join() !== expected.toSorted().join()) return `${kind} has ${found.length} files`
      }
      return undefined
    },
  },
  {
    id: 'a hundred letters',
    prepare: (folder) =>
      writeFileSync(
        path.join(folder, 'customers.csv'),
        `name,owed\n${customers.map(({ name, owed }) => `${name},${owed}`).join('\n')}\n`,
      ),
    exchange: (folder) => ({
      prompt: `For each line of ${folder}/customers.csv (columns name and owed) write a file ${folder}/NAME.txt, with the name in place of NAME, that says: Dear NAME, you owe OWED EUR.`,
      steps: [
        [files('read_text_file', { path: `${folder}/customers.csv` })],
        customers.map((one) => files('write_file', { path: `${folder}/${one.name}.txt`, content: letter(one) })),
      ],
      cell: `import csv
for row in csv.DictReader((await mcp_files.read_text_file(path="${folder}/customers.csv")).splitlines()):
    await mcp_files.write_file(path=f"${folder}/{row['name']}.txt", content=f"Dear {row['name']}, you owe {row['owed']} EUR.")`,
      queries: ['read text file', 'write file'],
      answer: 'Done.',
    }),
    check: ({ folder }) =>
      customers
        .map((one) => holds(path.join(folder, `${one.name}.txt`), letter(one)))
        .find((wrong) => wrong !== undefined),
  },
  {
    id: 'three hundred calls',
    prepare: (folder) =>
      writeFileSync(path.join(folder, 'pairs.csv'), `a,b\n${pairs.map((pair) => pair.join(',')).join('\n')}\n`),
    exchange: (folder) => ({
      prompt: `Each line of ${folder}/pairs.csv has two numbers, a and b. Add each pair with the sum tool of the server "everything". How many of the sums are greater than 150?`,
      steps: [[files('read_text_file', { path: `${folder}/pairs.csv` })], pairs.map(([a, b]) => sum(a, b))],
      cell: `import asyncio, csv
rows = list(csv.DictReader((await mcp_files.read_text_file(path="${folder}/pairs.csv")).splitlines()))
sums = await asyncio.gather(*(mcp_everything.get_sum(a=int(row["a"]), b=int(row["b"])) for row in rows))
sum(int(text.rstrip(".").split()[-1]) > 150 for text in sums)`,
      queries: ['read text file', 'add two numbers'],
      answer: String(over),
    }),
    check: ({ answer }) => says(answer, String(over)),
  },
]

function bestRegion(): string {
  const totals = REGIONS.map((_, at) => range(100).reduce((all, i) => all + ((i * 13 + at * 5) % 97), 0))
  return REGIONS[totals.indexOf(Math.max(...totals))]!
}

/** The tasks, each with three servers of its own: files, a knowledge graph, and the server "everything". */
export const ownTasks = (): Task[] => DRAFTS.map(taskOf)

function taskOf({ id, isLarge, prepare, exchange, check }: Draft): Task {
  return {
    id,
    source: 'own',
    size: exchange('').steps.flat().length,
    ...(isLarge && { isLarge }),
    open: () => {
      const home = realpathSync(mkdtempSync(path.join(tmpdir(), 'arena-')))
      // With slashes on Windows too: cells have it in texts of Python.
      const folder = path.join(home, 'files').replaceAll(path.sep, '/')
      mkdirSync(folder)
      prepare?.(folder)
      const graphFile = path.join(home, 'graph.jsonl')
      return Promise.resolve({
        servers: {
          everything: published.everything(),
          files: published.filesystem(folder),
          memory: published.memory(graphFile),
        },
        exchanges: [exchange(folder)],
        renamed: [folder, '/home/ann/files'],
        check: (answer) => Promise.resolve(check({ folder, answer, graph: graphIn(graphFile) })),
        close: () => rm(home, { recursive: true, force: true, maxRetries: 5 }),
      })
    },
  }
}

function graphIn(file: string): End['graph'] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as End['graph'][number])
}
