// One command of the command line. `--json` is one option of the program, which may stand anywhere after the command.
import { Command as Commander, Help, Option } from 'commander'
import { BridgeError } from '../../errors.ts'

export class Command extends Commander {
  declare readonly commands: readonly Command[]
  declare readonly options: Option[]
  takesParameters = false
  #json: string | undefined
  readonly #instead: Option[] = []

  override createCommand(name?: string): Command {
    return new Command(name)
  }

  /** @param printed what it prints with `--json`, for its help; its action gets the option. Others refuse the option */
  json(printed = 'print JSON'): this {
    this.#json = printed
    return this
  }

  /** Sets its action, loaded at its use for a quick answer. It gets the arguments, the options, then `more`. */
  runs(load: () => Promise<(...words: never[]) => Promise<void>>, ...more: readonly unknown[]): this {
    return this.action(async (...words: unknown[]) => (await load())(...([...words.slice(0, -1), ...more] as never[])))
  }

  /** Accepts words that look like options: the parameters of something else. */
  override allowUnknownOption(allow = true): this {
    this.takesParameters = allow
    return super.allowUnknownOption(allow)
  }

  /** Reads `--version` no longer: it may be a parameter. */
  withoutVersion(): void {
    const isOther = ({ long }: Option): boolean => long !== '--version'
    this.options.splice(0, Infinity, ...this.options.filter(isOther))
  }

  /** Adds an option that stands in place of the arguments. */
  instead(flags: string, description: string): this {
    const option = new Option(flags, description)
    this.#instead.push(option)
    return this.addOption(option)
  }

  /** As it is typed, such as `sandbridge token create`. */
  get #typed(): string {
    const names = [this.name()]
    for (let { parent } = this; parent; { parent } = parent) names.unshift(parent.name())
    return names.join(' ')
  }

  /** Before its action. @throws BridgeError TOOL_ARGUMENTS_INVALID */
  check({ json }: { json?: boolean }): void {
    const hint = `See \`${this.#typed} --help\`.`
    if (json && this.#json === undefined) {
      throw new BridgeError('TOOL_ARGUMENTS_INVALID', `\`${this.#typed}\` prints no JSON`, { hint })
    }
    const alone = this.#instead.find((option) => this.getOptionValue(option.attributeName()) !== undefined)
    if (alone && this.args.length > 0) {
      const what = `${alone.long} stands in place of other arguments: leave out '${this.args[0]}'`
      throw new BridgeError('TOOL_ARGUMENTS_INVALID', what, { hint })
    }
    if (json) this.setOptionValue('json', true)
  }

  /** Those of its help and of completion. */
  get shownOptions(): readonly Option[] {
    return this.#json === undefined ? this.options : [...this.options, new Option('--json', this.#json)]
  }

  override createHelp(): Help {
    return new CommandHelp()
  }
}

class CommandHelp extends Help {
  override visibleOptions(command: Command): Option[] {
    const shown = super.visibleOptions(command)
    // --help stays the last one.
    shown.splice(-1, 0, ...command.shownOptions.slice(command.options.length))
    return shown
  }
}
