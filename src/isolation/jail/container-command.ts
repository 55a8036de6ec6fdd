// Parses a definition that runs a container image with docker or podman, as those of OCI packages do: in a pod, the
// image itself runs. Pure.
import type { StdioServer } from '../../config/entries/server-definition.ts'

interface ContainerProgram {
  image: string
  command?: undefined
  args: string[]
  environment: Record<string, string>
}

/** Options without a meaning for a pod, which has a stdin and is removed anyway. */
const NO_MEANING = new Set(['-i', '--interactive', '-i=true', '--interactive=true', '--rm', '--rm=true', '--init'])

/** Undefined for another command. A text states what a pod cannot do. */
export function containerCommand({ command, args, env }: StdioServer): ContainerProgram | string | undefined {
  const program = command.replaceAll('\\', '/').split('/').at(-1)
  if ((program !== 'docker' && program !== 'podman') || args[0] !== 'run') return undefined
  const environment: Record<string, string> = {}
  for (let at = 1; at < args.length; at += 1) {
    const word = args[at]!
    if (!word.startsWith('-')) return { image: word, args: args.slice(at + 1), environment }
    if (NO_MEANING.has(word)) continue
    const [, joined] = /^(?:--env=|-e=?)(.+)$/.exec(word) ?? []
    if (joined === undefined && word !== '-e' && word !== '--env')
      return `its \`${program} run\` has the option ${word.split('=')[0]!.slice(0, 40)}, which a pod does not have`
    if (joined === undefined) at += 1
    const [name = '', ...value] = (joined ?? args[at] ?? '').split('=')
    const text = value.length > 0 ? value.join('=') : env[name]
    if (text !== undefined) environment[name] = text
  }
  return `its \`${program} run\` names no image`
}
