// Sandboxes at a terminal: pods that outlive their bridge, and images of containers.
import type { Command } from '@sandbridge/core/cli'
import type { Feature } from '@sandbridge/core/cli/package.ts'

export const sandboxes: Feature = {
  name: 'Sandboxes',
  commands: addCommands,
  examples: {
    sandboxes: ['sandbridge sandboxes', 'sandbridge sandboxes --remove 3f09a1b2'],
    image: ['sandbridge image build data'],
    'image build': ['sandbridge image build', 'sandbridge image build data'],
  },
}

function addCommands(program: Command): void {
  program
    .command('sandboxes')
    .description('list the pods that outlive their bridge (MCP_BRIDGE_SESSION=durable), or end one')
    .option('--remove <id>', 'end one that no bridge is using')
    .json()
    .runs(async () => (await import('./sandboxes.ts')).sandboxes)

  program
    .command('image')
    .description('build container images for cells')
    .command('build')
    .argument('[variant]', 'slim; data for numpy, pandas, matplotlib and more; node for JavaScript cells', 'slim')
    .json('print the engine and the image as JSON, and the lines of the build on stderr')
    .runs(async () => (await import('./image.ts')).imageBuild)
}
