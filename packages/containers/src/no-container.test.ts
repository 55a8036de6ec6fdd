import { expect, it } from 'vitest'
import { explainNoContainer } from './no-container.ts'

it.each([
  [
    'docker: opening seccomp profile (/tmp/a.json) failed: open /tmp/a.json: no such file or directory',
    /cannot start a container: docker: opening seccomp profile.*set TMPDIR/,
  ],
  ["unknown flag: --pull\nSee 'docker run --help'.", /unknown flag: --pull\. It is too old/],
  [
    'Error: OCI runtime error: crun: the requested cgroup controller `pids` is not available',
    /controller `pids` is not available\. This user may not limit memory/,
  ],
  ['Error: OCI runtime error: crun: cgroups in hybrid mode not supported', /hybrid mode not supported\. .*bubblewrap/],
  [
    'Error: crun: open `/home/u/.local/share/containers/storage/overlay/x/merged`: Permission denied',
    /Permission denied\. The storage of the engine/,
  ],
  ['exec container process `/usr/local/bin/python3`: Exec format error', /Exec format error\. .*another processor/],
  ['Error: something new', /^podman cannot start a container: Error: something new$/],
  ['', /gave no reason/],
])('the cause and the remedy are named, and the image is not blamed: %s', (stderr, told) => {
  const text = explainNoContainer('podman', 'python:3.14-slim', stderr)
  expect(text).toMatch(told)
  expect(text).not.toContain('no working python3')
})

it.each([
  'Error: crun: executable file `python3` not found in $PATH: No such file or directory: OCI runtime attempted to invoke a command that was not found',
  'exec: "python3": executable file not found in $PATH: unknown',
])('an image without python3 is blamed: %s', (stderr) => {
  expect(explainNoContainer('docker', 'alpine:3', stderr)).toMatch(/^Image alpine:3 has no working python3\./)
})
