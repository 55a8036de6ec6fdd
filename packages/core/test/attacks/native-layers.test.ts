// This file verifies single defences of containers: an attack that one of them stops, and that works when only this one
// is left out.
import { expect, it, describe } from 'vitest'
import { runCommand } from '../../src/util/process/run-command.ts'
import { startCells } from '../support/sandboxes/cell-runner.ts'
import { providerOrSkip, SLIM_IMAGE } from '../support/sandboxes/engines.ts'

const HARDENED = [
  '--rm',
  '--network=none',
  '--read-only',
  '--cap-drop=ALL',
  '--security-opt=no-new-privileges',
  '--user=65534:65534',
]

const LAYERS: { defence: string; without: string[]; attack: string }[] = [
  {
    defence: 'our seccomp profile: the engines’ own let netlink through',
    without: HARDENED,
    attack: "import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)\nprint('ESCAPED')",
  },
  {
    defence: 'our seccomp profile: the engines’ own let memfd through, and with it a way around noexec',
    without: HARDENED,
    attack: `
import os, shutil, subprocess
fd = os.memfd_create('program')
os.write(fd, open(shutil.which('true'), 'rb').read())
if subprocess.run([f'/proc/self/fd/{fd}'], pass_fds=[fd]).returncode == 0: print('ESCAPED')`,
  },
  {
    defence: 'noexec',
    without: [...HARDENED, '--tmpfs=/tmp:rw,exec,mode=1777'],
    attack: `
import os, shutil, subprocess
shutil.copy(shutil.which('true'), '/tmp/program')
os.chmod('/tmp/program', 0o755)
if subprocess.run(['/tmp/program']).returncode == 0: print('ESCAPED')`,
  },
  {
    defence: 'the read-only root',
    without: HARDENED.filter((option) => option !== '--read-only' && !option.startsWith('--user')),
    attack: "open('/usr/trace', 'w').write('x')\nprint('ESCAPED')",
  },
  {
    defence: 'the dropped capabilities',
    without: ['--rm', '--network=none'],
    attack: "import os\nos.chroot('/tmp')\nprint('ESCAPED')",
  },
]

describe.each(['podman', 'docker'] as const)('%s', (engine) => {
  for (const { defence, without, attack } of LAYERS) {
    it(`an attack fails because of ${defence}, without which it succeeds`, async () => {
      const cells = await startCells(await providerOrSkip(engine))
      const { output } = await cells.run(attack)
      expect(output).not.toContain('ESCAPED')
      const control = await runCommand(engine, ['run', ...without, SLIM_IMAGE, 'python3', '-c', attack])
      expect(control.stdout, control.stderr).toContain('ESCAPED')
    })
  }
})
