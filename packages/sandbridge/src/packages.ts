// What Sandbridge is made of beside its core. Without its folder and its lines here, a package is gone.
import { fillParts, type Package } from '@sandbridge/core/serve/cli/package.ts'
import { apps } from '@sandbridge/apps/package.ts'
import { bubblewrap } from '@sandbridge/bubblewrap/package.ts'
import { cellPackages } from '@sandbridge/cell-packages/package.ts'
import { clients } from '@sandbridge/clients/package.ts'
import { containers } from '@sandbridge/containers/package.ts'
import { direct } from '@sandbridge/direct/package.ts'
import { doctor } from '@sandbridge/doctor/package.ts'
import { flow } from '@sandbridge/flow/package.ts'
import { http } from '@sandbridge/http/package.ts'
import { installs } from '@sandbridge/installs/package.ts'
import { jail } from '@sandbridge/jail/package.ts'
import { javascript } from '@sandbridge/javascript/package.ts'
import { kubernetes } from '@sandbridge/kubernetes/package.ts'
import { learned } from '@sandbridge/learned/package.ts'
import { masking } from '@sandbridge/masking/package.ts'
import { memories } from '@sandbridge/memories/package.ts'
import { native } from '@sandbridge/native/package.ts'
import { once } from '@sandbridge/once/package.ts'
import { page } from '@sandbridge/page/package.ts'
import { permissions } from '@sandbridge/permissions/package.ts'
import { postgres } from '@sandbridge/postgres/package.ts'
import { record } from '@sandbridge/record/package.ts'
import { registry } from '@sandbridge/registry/package.ts'
import { remote } from '@sandbridge/remote/package.ts'
import { resident } from '@sandbridge/resident/package.ts'
import { search } from '@sandbridge/search/package.ts'
import { signIn } from '@sandbridge/sign-in/package.ts'
import { tasks } from '@sandbridge/tasks/package.ts'
import { telemetry } from '@sandbridge/telemetry/package.ts'
import { terminal } from '@sandbridge/terminal/package.ts'
import { workflows } from '@sandbridge/workflows/package.ts'

export const PACKAGES: readonly Package[] = [
  apps,
  bubblewrap,
  cellPackages,
  clients,
  containers,
  direct,
  doctor,
  flow,
  http,
  installs,
  jail,
  javascript,
  kubernetes,
  learned,
  masking,
  memories,
  native,
  once,
  page,
  permissions,
  postgres,
  record,
  registry,
  remote,
  resident,
  search,
  signIn,
  tasks,
  telemetry,
  terminal,
  workflows,
]

fillParts(PACKAGES)
