// A server's purpose in one phrase: from its instructions, otherwise from the names of its tools. Pure.
import { count } from '../../util/text/count.ts'
import { nameWords } from '../../util/text/python-name.ts'
import { firstSentence, oneLine } from '../../util/text/server-words.ts'

/** Paragraphs of the instructions that are read: later ones are about details. */
const MAX_PARAGRAPHS = 4
const MAX_INSTRUCTIONS = 8_000
const MAX_NAMES = 400
/** A longer list of names is replaced by its subjects. */
const MAX_LIST = 90
const MAX_SUBJECTS = 6

/** Headings and list items describe a part, not the server. */
const NOT_PROSE = /^(?:#|[-*+] |\d+[.)] |```|\||<|>)/
/** Phrases about the instructions themselves or their reader. */
const ABOUT_ITSELF =
  /\binstructions?\b|\bguidelines?\b|\baudience\b|\bwelcome\b|^(?:follow|see|note|important|read|please|below|these|always|never|before|when|if|do not|don't|make sure)\b/i
/** If only these words are left of a title such as "Everything MCP Server", the title says nothing. */
const FILLERS = new Set(
  'a an the this is for of mcp server servers model context protocol official usage guide overview'.split(' '),
)
/** Words in a tool's name that are not its subject. */
const NO_SUBJECT = new Set('a an the or and to with by of for in on from at all multiple many one api'.split(' '))

/** What a server is for. `about` is empty when neither source helps. */
export interface Purpose {
  /** The number of its tools, such as `12 tools`, where `about` was made of their names. */
  tools?: string
  about: string
}

/** Both parts of a purpose, or the one that there is. */
export function purposeText({ tools, about }: Purpose): string {
  return tools === undefined || about === '' ? (tools ?? about) : `${tools}: ${about}`
}

/** @param name of the server. @param limit for the text of the purpose */
export function serverPurpose(
  name: string,
  instructions: string | undefined,
  tools: readonly { name: string; description: string }[],
  limit: number,
): Purpose {
  const said = fromInstructions(name, instructions, limit)
  if (said !== '') return { about: said }
  const [first] = tools
  if (tools.length === 1 && first!.description !== '') return { about: firstSentence(first!.description, limit) }
  return fromNames(
    tools.map((tool) => tool.name),
    limit,
  )
}

function fromInstructions(name: string, instructions: string | undefined, limit: number): string {
  const known = new Set(nameWords(name))
  const paragraphs = (instructions ?? '').slice(0, MAX_INSTRUCTIONS).split(/\n+/)
  const prose = paragraphs.map((paragraph) => paragraph.trim()).filter((text) => text !== '' && !NOT_PROSE.test(text))
  for (const paragraph of prose.slice(0, MAX_PARAGRAPHS)) {
    const sentence = firstSentence(paragraph, limit)
    const telling = nameWords(sentence).filter((word) => !FILLERS.has(word) && !known.has(word))
    if (telling.length > 1 && !ABOUT_ITSELF.test(sentence)) return sentence
  }
  return ''
}

/** What the names of tools are about, most frequent first: `issue, pull request`. */
export function serverTopics(toolNames: readonly string[], limit: number): string {
  let text = ''
  for (const subject of subjectsOf(toolNames.slice(0, MAX_NAMES))) {
    const longer = text === '' ? subject : `${text}, ${subject}`
    if (longer.length > limit) break
    text = longer
  }
  return oneLine(text, limit)
}

/** All names if they fit, otherwise their most frequent subjects: a partial list would look complete. */
function fromNames(toolNames: readonly string[], limit: number): Purpose {
  if (toolNames.length === 0) return { about: '' }
  const tools = count(toolNames.length, 'tool')
  const all = toolNames.join(', ')
  if (purposeText({ tools, about: all }).length <= Math.min(limit, MAX_LIST))
    return { tools, about: oneLine(all, limit) }
  return { tools, about: serverTopics(toolNames, limit - purposeText({ tools, about: '' }).length - 2) }
}

/** The subjects of names such as `list_pull_requests` and `get_pull_request`, most frequent first. */
function subjectsOf(toolNames: readonly string[]): string[] {
  const split = toolNames.map(nameWords)
  // A word that most names begin with is the server's name.
  const first = split[0]?.[0]
  const isShared = first !== undefined && split.filter(([word]) => word === first).length * 2 > split.length
  const counts = new Map<string, number>()
  for (const words of split) {
    const own = isShared && words[0] === first ? words.slice(1) : words
    // The first word is almost always a verb.
    const named = own.slice(own.length > 1 ? 1 : 0).filter((word) => !NO_SUBJECT.has(word))
    const subject = named.slice(0, 2).map(singular).join(' ')
    if (subject !== '') counts.set(subject, (counts.get(subject) ?? 0) + 1)
  }
  const chosen: string[] = []
  for (const [subject] of [...counts].toSorted((a, b) => b[1] - a[1])) {
    const isKindOfChosen = chosen.some((one) => subject.endsWith(` ${one}`) || subject.startsWith(`${one} `))
    if (!isKindOfChosen && chosen.length < MAX_SUBJECTS) chosen.push(subject)
  }
  return chosen
}

function singular(word: string): string {
  if (word.length <= 3) return word
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  return word.replace(/(?<=ch|sh|ss|x)es$|(?<![su])s$/, '')
}
