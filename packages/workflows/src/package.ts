// Workflows: saved functions that run without a model, as commands, methods, tools, skills and schedules.
import type { Feature, Package } from '@sandbridge/core/serve/cli/package.ts'
import { lazyMethods } from '@sandbridge/core/calls/methods'
import { offerWorkflows } from './offer.ts'
import { WORKFLOW_SETTINGS } from './settings.ts'
import type { Command } from '@sandbridge/core/serve/cli'

const feature: Feature = {
  name: 'Workflows',
  settings: WORKFLOW_SETTINGS,
  commands: addCommands,
  examples: {
    workflows: ['sandbridge workflows --json'],
    save: ['sandbridge save 3f09a1b2 weekly-report', 'sandbridge save 3f09a1b2 77b01c9e weekly-report --param week'],
    'run-workflow': [
      'sandbridge run-workflow weekly-report --week 47',
      'sandbridge run-workflow weekly-report --check',
    ],
    schedule: ['sandbridge schedule weekly-report "0 8 * * 1" --week auto'],
    export: ['sandbridge export weekly-report report.csv -o bundle.sbx'],
    import: ['sandbridge import bundle.sbx --dry-run'],
  },
  methods: () =>
    lazyMethods(['save_workflow', 'list_workflows'], async () => (await import('./methods.ts')).workflowMethods),
  offer: offerWorkflows,
  beside: async (bridge) => {
    const { Scheduler } = await import('./schedule/scheduler.ts')
    const scheduler = new Scheduler(bridge)
    scheduler.start()
    return scheduler
  },
}

export const workflows: Package = { features: [feature] }

function addCommands(program: Command): void {
  program
    .command('workflows')
    .description('list the workflows that cells saved')
    .json()
    .runs(async () => (await import('./commands/run-workflow.ts')).listWorkflows)

  program
    .command('save')
    .description('make a workflow of recorded runs, in their order')
    .argument('<run>', 'the beginning of its id, as `sandbridge log` shows it')
    .argument('<name...>', 'more runs, then the name of the workflow, such as weekly-report')
    .option('--param <names...>', 'values of their code that become parameters, such as week for `week = 47`')
    .option('--description <text>', 'what it does, for searches (default: the docstring)')
    .json()
    .action(async (run: string, rest: string[], options: object) =>
      (await import('./commands/save.ts')).saveRuns([run, ...rest.slice(0, -1)], rest.at(-1)!, options),
    )

  const runWorkflow = program
    .command('run-workflow')
    .description('run a workflow without a model; its parameters are options, such as --week 47')
    .argument('<name>')
    .argument('[parameters...]')
    .allowUnknownOption()
    .json('print the result as JSON')
    .option('--dry-run', 'show what it would be run with and which tools it may call')
    .option('--check', 'run it against its recorded responses and call nothing')
    .option('--record', 'record the replies of this run for --check')
    .option('--resume', 'continue the run that failed without repeating its calls')
    .option('--unanswered <decision>', 'with --resume, a call without an answer: again, or its answer as JSON')
    .option('--timeout <seconds>', 'how long it may run', '3600')
    .option('--images <folder>', 'the folder for images and audio (default: the working folder)')
  const ownOf = (command: Command) => async () => (await import('./own-options.ts')).ownOptions(command, program)
  runWorkflow.runs(async () => (await import('./commands/run-workflow.ts')).runWorkflow, ownOf(runWorkflow))

  const schedule = program
    .command('schedule')
    .description('run a workflow at set times, or list what is scheduled')
    .argument('[name]')
    .argument('[when]', 'the five fields of cron, such as "0 8 * * 1"')
    .argument('[parameters...]')
    .allowUnknownOption()
    .option('--allow <tools...>', 'tools (SERVER__TOOL) that may be called without a question')
    .option('--zone <zone>', 'the time zone, such as Europe/Berlin (default: that of this machine)')
    .option('--remove', 'stop running NAME')
    .json('print as JSON')
  schedule.runs(async () => (await import('./commands/schedule.ts')).schedule, ownOf(schedule))

  program
    .command('export')
    .description('write workflows, saved functions and artifacts to a bundle')
    .argument('[names...]', 'only these, and the functions they import')
    .option('-o, --output <file>', 'the file (default: bundle.sbx)')
    .runs(async () => (await import('./commands/bundle.ts')).exportBundle)

  program
    .command('import')
    .description('show the content of a bundle and import it; runs nothing')
    .argument('<file>')
    .option('--dry-run', 'show its content and do nothing')
    .option('-y, --yes', 'do not ask for confirmation')
    .runs(async () => (await import('./commands/bundle.ts')).importBundle)
}
