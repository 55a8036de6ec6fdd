// What the core of Sandbridge works without. Without its folder and its lines here, a feature or part is gone.
import { meanings } from './calls/catalog/search/meanings-part.ts'
import { flow } from './calls/flow-part.ts'
import { languages } from './cell/languages-part.ts'
import { learning } from './calls/learned-part.ts'
import { masking } from './cell/masking-part.ts'
import type { Feature } from './cli/feature.ts'
import { access } from './features/access/feature.ts'
import { completion } from './features/completion/feature.ts'
import { doctor } from './features/doctor/feature.ts'
import { init } from './features/init/feature.ts'
import { lists } from './features/lists/feature.ts'
import { log } from './features/log/feature.ts'
import { memories } from './features/memories/feature.ts'
import { packages } from './features/packages/feature.ts'
import { permissions } from './features/permissions/feature.ts'
import { registry } from './features/registry/feature.ts'
import { resident } from './features/resident/feature.ts'
import { sandboxes } from './features/sandboxes/feature.ts'
import { settings } from './features/settings/feature.ts'
import { shell } from './features/shell/feature.ts'
import { workflows } from './features/workflows/feature.ts'
import { jails } from './isolation/jail-part.ts'
import { bubblewrap } from './isolation/bubblewrap-part.ts'
import { containers } from './isolation/container-part.ts'
import { images } from './isolation/images-part.ts'
import { kubernetes } from './isolation/kubernetes-part.ts'
import { pythonPackages } from './isolation/packages-part.ts'
import { clients } from './config/readers/clients-part.ts'
import { http } from './serve/http-part.ts'
import { page } from './serve/page-part.ts'
import { installs } from './upstream/installs-part.ts'
import { oauth } from './upstream/oauth-part.ts'
import { remote } from './upstream/remote-part.ts'
import { postgres } from './keep/postgres-part.ts'
import { dailyCosts } from './observe/costs-part.ts'
import { record } from './observe/record-part.ts'
import { telemetry } from './observe/telemetry-part.ts'

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
bubblewrap.isAt(() => import('./isolation/bubblewrap/part.ts'))
clients.isAt(() => import('./config/readers/clients/client-readers.ts'))
containers.isAt(() => import('./isolation/container/part.ts'))
dailyCosts.isAt(() => import('./observe/costs/part.ts'))
flow.isAt(() => import('./calls/flow/session-flow.ts'))
http.isAt(() => import('./serve/http/part.ts'))
images.isAt(() => import('./isolation/images/open-root.ts'))
installs.isAt(() => import('./upstream/installs/installation.ts'))
jails.isAt(() => import('./isolation/jail/part.ts'))
kubernetes.isAt(() => import('./isolation/kubernetes/part.ts'))
languages.isAt(() => import('./cell/languages/language-files.ts'))
learning.isAt(() => import('./calls/learned/session-use.ts'))
masking.isAt(() => import('./cell/masking/part.ts'))
meanings.isAt(() => import('./calls/catalog/meanings/word-vectors-file.ts'))
oauth.isAt(() => import('./upstream/oauth/part.ts'))
page.isAt(() => import('./serve/page/part.ts'))
postgres.isAt(() => import('./keep/postgres/postgres-stores.ts'))
pythonPackages.isAt(() => import('./isolation/packages/package-files.ts'))
record.isAt(() => import('./observe/audit/part.ts'))
remote.isAt(() => import('./upstream/remote/dial-remote.ts'))
telemetry.isAt(() => import('./observe/telemetry/part.ts'))
