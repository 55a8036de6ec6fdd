// Attacks on the first process of a sandbox, which watches the others: weakening it, and using what it leaves open to
// the outside.
import type { Attack } from '../attack.ts'
import { AS_ROOT, NATIVE, systemCall } from './linux.ts'

const kind = 'kernel'

/**
 * Python in which `init` is the first process of the sandbox, or a child that stands for it. What a body does to the
 * child ends with it.
 */
function onFirstProcess(body: string): string {
  return `
import os, resource, signal, time
init = 1 if os.getppid() == 1 else os.fork()
if init == 0:
    os.setsid()
    time.sleep(60)
    os._exit(0)
time.sleep(0.05)
try:
    ${body.trim().split('\n').join('\n    ')}
finally:
    if init != 1:
        os.kill(init, signal.SIGKILL)
        os.waitpid(init, 0)`
}

export const linuxFirstProcessAttacks: Attack[] = [
  {
    name: 'the first process’s limits',
    kind,
    ...NATIVE,
    code: onFirstProcess(`
resource.prlimit(init, resource.RLIMIT_NOFILE, (3, 3))
print('ESCAPED')`),
  },
  {
    name: 'the first process’s priority',
    kind,
    ...NATIVE,
    code: onFirstProcess(`
os.setpriority(os.PRIO_PROCESS, init, 19)
print('ESCAPED')`),
  },
  {
    name: 'the priority of the first process’s group',
    kind,
    ...NATIVE,
    code: onFirstProcess(`
os.setpriority(os.PRIO_PGRP, os.getpgid(init), 19)
print('ESCAPED')`),
  },
  {
    name: 'the CPUs of the first process',
    kind,
    ...NATIVE,
    code: onFirstProcess(`
os.sched_setaffinity(init, {min(os.sched_getaffinity(init))})
print('ESCAPED')`),
  },
  {
    name: 'the first process stands still',
    kind,
    ...NATIVE,
    // A busy machine takes a while to stop a process, and says when it has only of a child.
    code: onFirstProcess(`
os.kill(init, signal.SIGSTOP)
time.sleep(0.1) if init == 1 else os.waitpid(init, os.WUNTRACED)
if open(f'/proc/{init}/stat').read().rpartition(')')[2].split()[0] == 'T': print('ESCAPED')`),
  },
  {
    name: 'the process at the other end of a socket',
    kind,
    ...NATIVE,
    code: `
import os, socket, stat
ends = list(socket.socketpair())
for fd in range(64):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode): ends.append(socket.socket(fileno=os.dup(fd)))
    except OSError: pass
for end in ends:
    try: os.close(end.getsockopt(socket.SOL_SOCKET, 77))
    except OSError: pass
    else: print('ESCAPED', end)
    try: end.setsockopt(socket.SOL_SOCKET, 76, 1)
    except OSError: pass
    else: print('ESCAPED', end)
    end.close()`,
  },
  {
    name: 'merging of memory',
    kind,
    ...NATIVE,
    root: true,
    code: systemCall({ x64: 157, arm64: 167 }, 67, 0, 0, 0, 0),
  },
  {
    name: 'a terminal',
    kind,
    control: 'python',
    providers: ['bubblewrap', 'bubblewrap-image', 'bubblewrap-fork'],
    code: `import os\nfor fd in os.openpty(): os.close(fd)\nprint('ESCAPED')`,
  },
  {
    name: 'a writable folder of devices',
    kind,
    control: 'python',
    providers: ['bubblewrap', 'bubblewrap-image', 'bubblewrap-fork'],
    root: true,
    code: `
import os
if any(os.access(folder, os.W_OK) for folder in ('/dev', '/dev/pts')): print('ESCAPED')`,
  },
  {
    name: 'the timers of the host',
    kind,
    ...AS_ROOT,
    code: `if open('/proc/timer_list').read(100): print('ESCAPED')`,
  },
]
