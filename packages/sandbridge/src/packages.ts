// What the core of Sandbridge works without. Without its folder and its lines here, a feature or part is gone.
import { meanings } from '@sandbridge/core/calls/catalog/search/meanings-part.ts'
import { flow } from '@sandbridge/core/calls/flow-part.ts'
import { languages } from '@sandbridge/core/cell/languages-part.ts'
import { learning } from '@sandbridge/core/calls/learned-part.ts'
import { masking } from '@sandbridge/core/cell/masking-part.ts'
import type { Feature } from '@sandbridge/core/cli/feature.ts'
import { access } from '@sandbridge/sign-in/access/feature.ts'
import { completion } from '@sandbridge/terminal/completion/feature.ts'
import { doctor } from '@sandbridge/doctor/feature.ts'
import { init } from '@sandbridge/clients/init/feature.ts'
import { lists } from '@sandbridge/terminal/lists/feature.ts'
import { log } from '@sandbridge/record/log/feature.ts'
import { memories } from '@sandbridge/memories/feature.ts'
import { packages } from '@sandbridge/cell-packages/command/feature.ts'
import { permissions } from '@sandbridge/terminal/permissions/feature.ts'
import { registry } from '@sandbridge/registry/feature.ts'
import { resident } from '@sandbridge/resident/feature.ts'
import { sandboxes } from '@sandbridge/terminal/sandboxes/feature.ts'
import { settings } from '@sandbridge/terminal/settings/feature.ts'
import { shell } from '@sandbridge/terminal/shell/feature.ts'
import { workflows } from '@sandbridge/workflows/feature.ts'
import { jails } from '@sandbridge/core/isolation/jail-part.ts'
import { bubblewrap } from '@sandbridge/core/isolation/bubblewrap-part.ts'
import { containers } from '@sandbridge/core/isolation/container-part.ts'
import { images } from '@sandbridge/core/isolation/images-part.ts'
import { kubernetes } from '@sandbridge/core/isolation/kubernetes-part.ts'
import { pythonPackages } from '@sandbridge/core/isolation/packages-part.ts'
import { clients } from '@sandbridge/core/config/readers/clients-part.ts'
import { http } from '@sandbridge/core/serve/http-part.ts'
import { page } from '@sandbridge/core/serve/page-part.ts'
import { installs } from '@sandbridge/core/upstream/installs-part.ts'
import { oauth } from '@sandbridge/core/upstream/oauth-part.ts'
import { remote } from '@sandbridge/core/upstream/remote-part.ts'
import { postgres } from '@sandbridge/core/keep/postgres-part.ts'
import { dailyCosts } from '@sandbridge/core/observe/costs-part.ts'
import { record } from '@sandbridge/core/observe/record-part.ts'
import { telemetry } from '@sandbridge/core/observe/telemetry-part.ts'

/** They plug in from above: the core does not know them. */
export const FEATURES: readonly Feature[] = [
  access,
  completion,
  doctor,
  init,
  lists,
  log,
  memories,
  packages,
  permissions,
  registry,
  resident,
  sandboxes,
  settings,
  shell,
  workflows,
]

// The core asks for these parts, and loads each at its first use.
bubblewrap.isAt(() => import('@sandbridge/bubblewrap/part.ts'))
clients.isAt(() => import('@sandbridge/clients/readers/client-readers.ts'))
containers.isAt(() => import('@sandbridge/containers/part.ts'))
dailyCosts.isAt(() => import('@sandbridge/record/costs/part.ts'))
flow.isAt(() => import('@sandbridge/flow/session-flow.ts'))
http.isAt(() => import('@sandbridge/http/part.ts'))
images.isAt(() => import('@sandbridge/containers/images/open-root.ts'))
installs.isAt(() => import('@sandbridge/installs/installation.ts'))
jails.isAt(() => import('@sandbridge/jail/part.ts'))
kubernetes.isAt(() => import('@sandbridge/kubernetes/part.ts'))
languages.isAt(() => import('@sandbridge/javascript/language-files.ts'))
learning.isAt(() => import('@sandbridge/learned/session-use.ts'))
masking.isAt(() => import('@sandbridge/masking/part.ts'))
meanings.isAt(() => import('@sandbridge/vectors/word-vectors-file.ts'))
oauth.isAt(() => import('@sandbridge/sign-in/oauth/part.ts'))
page.isAt(() => import('@sandbridge/page/part.ts'))
postgres.isAt(() => import('@sandbridge/postgres/postgres-stores.ts'))
pythonPackages.isAt(() => import('@sandbridge/cell-packages/package-files.ts'))
record.isAt(() => import('@sandbridge/record/audit/part.ts'))
remote.isAt(() => import('@sandbridge/remote/dial-remote.ts'))
telemetry.isAt(() => import('@sandbridge/telemetry/part.ts'))
