// The order of files: those that take longest begin first, so that none of them runs on alone at the end while other
// workers have nothing left to do. Vitest itself knows of earlier runs on the same machine only, and goes by the size
// of files otherwise.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** About how many seconds they take on two cores, from 25 on: on a plain machine, or on one with every engine. */
const SECONDS: Record<string, number> = {
  'features/resident/resident': 161,
  'contract/package-image': 100,
  'contract/kubernetes-real': 90,
  'clients/agents': 90,
  'ui/screenshots': 87,
  'e2e/durable-pods-real': 83,
  'e2e/data-packages': 79,
  'attacks/flow': 79,
  'features/resident/resident-commands': 78,
  'upstream/jail': 75,
  'contract/image-sources': 74,
  'contract/kubernetes-faults': 73,
  'attacks/bubblewrap': 69,
  'e2e/flow': 63,
  'features/resident/attacks': 61,
  'attacks/native-separation': 60,
  'attacks/hostile-answers': 59,
  'ui/record': 57,
  'e2e/helm-real': 56,
  unplug: 55,
  'features/workflows/declared-flows': 54,
  'e2e/kubernetes-servers-real': 53,
  'ui/views': 53,
  'e2e/package': 53,
  'e2e/first-session': 50,
  'features/packages/packages': 49,
  'e2e/durable-pods': 48,
  'features/workflows/workflows': 47,
  'contract/container-faults': 44,
  'contract/pyodide': 44,
  'upstream/container-jail': 43,
  'e2e/jail': 41,
  'features/registry/add': 41,
  'attacks/pyodide-layers': 40,
  'attacks/podman': 40,
  'attacks/docker': 40,
  'contract/bubblewrap-image': 39,
  'contract/docker': 38,
  'e2e/engines': 38,
  'arena/endpoint': 37,
  'attacks/bubblewrap-fork': 35,
  'attacks/bubblewrap-image': 35,
  'attacks/kubernetes': 35,
  'contract/podman': 34,
  'faults/approvals': 33,
  'e2e/asking-in-terminal': 32,
  'contract/folders': 32,
  'clients/apps': 30,
  'attacks/pyodide': 30,
  'kernel/calls': 29,
  'upstream/stdio': 29,
  'e2e/kubernetes-real': 28,
  'contract/kubernetes-warm-pool': 27,
  'e2e/migration': 26,
  'contract/docker-pipe': 26,
  'ui/ask': 26,
  'features/lists/servers': 26,
  'upstream/npx': 26,
  'faults/interrupted-writes': 25,
}

const secondsOf = ({ moduleId }: TestSpecification): number =>
  SECONDS[/\/test\/(.+)\.test\.ts$/.exec(moduleId.replaceAll('\\', '/'))?.[1] ?? ''] ?? 0

export class LongestFirst extends BaseSequencer {
  /** Within each project, as workers keep to one while it has files. */
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is a method of vitest
    const sorted = await super.sort(files)
    const projects = [...new Set(sorted.map(({ project }) => project.name))]
    return projects.flatMap((name) =>
      sorted.filter(({ project }) => project.name === name).toSorted((a, b) => secondsOf(b) - secondsOf(a)),
    )
  }
}
