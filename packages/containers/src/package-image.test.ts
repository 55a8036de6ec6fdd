import { expect, it } from 'vitest'
import { reasonOf } from './package-image.ts'

it.each([
  [
    'docker’s older builder',
    "\u001b[91mERROR: Could not find a version that satisfies x\u001b[0m\n\u001b[91mERROR: No matching distribution found for x\n\u001b[0m\nThe command '/bin/sh -c pip' returned a non-zero code: 1",
    'No matching distribution found for x',
  ],
  [
    'BuildKit',
    '#8 0.512 ERROR: No matching distribution found for x\n#8 ERROR: process "/bin/sh -c pip" did not complete successfully: exit code: 1\n------\nERROR: failed to solve: process "/bin/sh -c pip"',
    'No matching distribution found for x',
  ],
  [
    'no installer',
    "/usr/bin/python3: No module named ensurepip\nThe command '/bin/sh -c' failed",
    'No module named ensurepip',
  ],
  [
    'podman',
    'STEP 5/6: RUN pip\nError: building at STEP "RUN pip && rm": while running runtime: exit status 1',
    'while running runtime: exit status 1',
  ],
  ['anything else', 'no space left on device\n\n', 'no space left on device'],
  ['nothing', '\n', 'the engine gave no reason'],
])('a failed build of packages is explained: %s', (_builder, output, reason) => {
  expect(reasonOf(output)).toBe(reason)
})
