// `sandbridge completion SHELL`: a script that completes commands and options, made from the commands.
import { BridgeError } from '@sandbridge/core/errors.ts'
import type { Command } from '@sandbridge/core/serve/cli'

/** What can follow certain words of a command line. */
interface Place {
  /** The preceding words, such as `packages add`. */
  words: string
  next: { word: string; description: string }[]
}

const WRITERS: Record<string, (places: Place[]) => string> = { bash, zsh, fish }

/** @throws BridgeError for an unknown shell */
export function printCompletion(program: Command, shell: string): void {
  const write = Object.hasOwn(WRITERS, shell) ? WRITERS[shell] : undefined
  if (!write) {
    throw new BridgeError('TOOL_ARGUMENTS_INVALID', `No completion for the shell '${shell}'`, {
      hint: `Shells: ${Object.keys(WRITERS).join(', ')}.`,
    })
  }
  process.stdout.write(write(placesOf(program)))
}

function placesOf(command: Command, words: string[] = []): Place[] {
  const commands = command.commands.map((sub) => ({ word: sub.name(), description: sub.description() }))
  const options = command.shownOptions.map(({ long, short, description }) => ({
    word: long ?? short ?? '',
    description,
  }))
  const help = { word: '--help', description: 'show help' }
  const own: Place = { words: words.join(' '), next: [...commands, ...options, help] }
  return [own, ...command.commands.flatMap((sub) => placesOf(sub, [...words, sub.name()]))]
}

/** Quotes any text for the shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const wordsOf = ({ next }: Place): string => next.map(({ word }) => word).join(' ')

/** The places after one of their own words, for a `case` of bash and zsh. Other words are values and arguments. */
const known = (places: Place[]): string =>
  places.flatMap(({ words }) => (words === '' ? [] : quoted(words))).join(' | ')

function bash(places: Place[]): string {
  const cases = places.map((place) => `    ${quoted(place.words)}) words=${quoted(wordsOf(place))} ;;`)
  return `# Completion of sandbridge for bash: eval "$(sandbridge completion bash)"
_sandbridge() {
  local words='' place='' index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "\${place:+$place }\${COMP_WORDS[index]}" in
      ${known(places)}) place="\${place:+$place }\${COMP_WORDS[index]}" ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")) || true
}
complete -o default -F _sandbridge sandbridge
`
}

/** A shell without `compinit` starts it at its first prompt: it may follow later in its file. */
function zsh(places: Place[]): string {
  const cases = places.map((place) => {
    const items = place.next.map(({ word, description }) => quoted(`${word.replaceAll(':', '\\:')}:${description}`))
    return `    ${quoted(place.words)}) items=(${items.join(' ')}) ;;`
  })
  return `#compdef sandbridge
# Completion of sandbridge for zsh: eval "$(sandbridge completion zsh)"
_sandbridge() {
  local -a items=()
  local place='' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${place:+$place }$word" in
      (${known(places)}) place="\${place:+$place }$word" ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  _describe sandbridge items || _files
}
_sandbridge_register() {
  precmd_functions=(\${precmd_functions:#_sandbridge_register})
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
  compdef _sandbridge sandbridge
}
if [ "$funcstack[1]" = _sandbridge ]; then _sandbridge "$@"
elif (( $+functions[compdef] )); then compdef _sandbridge sandbridge
else precmd_functions+=(_sandbridge_register); fi
`
}

function fish(places: Place[]): string {
  const lines = places.flatMap(({ words, next }) =>
    next.map(({ word, description }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${quoted(word)}`
      return `complete -c sandbridge -n ${quoted(`__sandbridge_at "${words}"`)} ${what} -d ${fishQuoted(description)}`
    }),
  )
  return `# Completion of sandbridge for fish: sandbridge completion fish > ~/.config/fish/completions/sandbridge.fish
function __sandbridge_at
  set -l place
  for word in (commandline -opc)[2..-1]
    contains -- "$place $word" ${places.map(({ words }) => quoted(` ${words}`)).join(' ')}
    and set place "$place $word"
  end
  test "$place" = "$argv[1]" -o "$place" = " $argv[1]"
end
${lines.join('\n')}
`
}

const fishQuoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
