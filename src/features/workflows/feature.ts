// Workflows: saved functions that run without a model. They are commands, methods of cells, tools and skills of a
// client, and schedules.
import type { Feature } from '../../cli/feature.ts'
import { lazyMethods } from '../../calls/methods/lazy-methods.ts'
import { addCommands } from './commands/commands.ts'
import { offerWorkflows } from './offer.ts'
import { WORKFLOW_SETTINGS } from './settings.ts'

export const workflows: Feature = {
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
