// The order of files: those that take longest begin first, so that none of them runs on alone at the end while other
// workers have nothing left to do. Vitest itself knows of earlier runs on the same machine only, and goes by the size
// of files otherwise.
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** About how many seconds they take on two cores, from 25 on: on a plain machine, or on one with every engine. */
const SECONDS: Record<string, number> = {
  'contract/package-image': 100,
  'features/resident/resident': 123,
  'upstream/jail': 116,
  'features/workflows/declared-flows': 105,
  'contract/kubernetes-real': 90,
  'clients/agents': 90,
  'ui/screenshots': 87,
  'e2e/durable-pods-real': 83,
  unplug: 82,
  'e2e/flow': 80,
  'features/resident/attacks': 80,
  'e2e/data-packages': 79,
  'contract/image-sources': 74,
  'contract/kubernetes-faults': 73,
  'attacks/bubblewrap': 69,
  'attacks/native-separation': 60,
  'e2e/session-modes': 60,
  'attacks/hostile-answers': 59,
  'features/resident/resident-commands': 58,
  'ui/record': 57,
  'e2e/helm-real': 56,
  'e2e/kubernetes-servers-real': 53,
  'ui/views': 53,
  'e2e/users': 49,
  'e2e/durable-pods': 48,
  'features/workflows/workflows': 47,
  'attacks/pyodide-layers': 46,
  'contract/container-faults': 44,
  'upstream/container-jail': 43,
  'e2e/first-session': 41,
  'e2e/jail': 41,
  'features/registry/add': 41,
  'attacks/podman': 40,
  'attacks/docker': 40,
  'faults/approvals': 40,
  'contract/bubblewrap-image': 39,
  'contract/pyodide': 39,
  'e2e/asking-in-terminal': 39,
  'contract/docker': 38,
  'e2e/engines': 38,
  'e2e/approvals': 36,
  'attacks/bubblewrap-fork': 35,
  'attacks/bubblewrap-image': 35,
  'attacks/kubernetes': 35,
  'contract/podman': 34,
  'attacks/flow': 33,
  'features/packages/packages': 33,
  'contract/folders': 32,
  'e2e/migration': 32,
  'e2e/oauth': 32,
  'e2e/output': 32,
  'clients/apps': 30,
  'e2e/answer-page': 30,
  'e2e/kubernetes-real': 28,
  'contract/kubernetes-warm-pool': 27,
  'e2e/late-results': 27,
  'e2e/user-servers': 27,
  'contract/docker-pipe': 26,
  'e2e/disconnect': 26,
  'features/workflows/schedules': 26,
  'ui/ask': 26,
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
