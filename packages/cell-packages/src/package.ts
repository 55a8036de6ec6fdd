// `sandbridge packages`: the list of Python packages that cells get.
import { pythonPackages } from '@sandbridge/core/parts'
import type { Command } from '@sandbridge/core/serve/cli'
import type { Feature, Package } from '@sandbridge/core/serve/cli/package.ts'

const feature: Feature = {
  name: 'Packages',
  commands: addCommands,
  examples: {
    packages: ['sandbridge packages', 'sandbridge packages add pandas matplotlib'],
    'packages list': ['sandbridge packages list --json'],
    'packages add': ['sandbridge packages add pandas matplotlib', 'sandbridge packages add ~/wheels'],
    'packages remove': ['sandbridge packages remove matplotlib'],
  },
}

export const cellPackages: Package = {
  features: [feature],
  parts: [pythonPackages.at(() => import('./package-files.ts'))],
}

function addCommands(program: Command): void {
  const group = program.command('packages').description('list the Python packages of cells, add or remove some')
  group
    .command('list', { isDefault: true })
    .description('list the packages, as a sandbox of this machine imports them')
    .json()
    .runs(async () => (await import('./command/packages.ts')).listPackages)
  group
    .command('add')
    .description('install packages for cells and try to import them, such as pandas matplotlib')
    .argument('<packages...>', 'requirements, wheel files or folders of wheels')
    .json()
    .runs(async () => (await import('./command/packages.ts')).addPackages)
  group
    .command('remove')
    .description('remove packages from the list')
    .argument('<packages...>')
    .json('print the packages that are left as JSON')
    .runs(async () => (await import('./command/packages.ts')).removePackages)
}
