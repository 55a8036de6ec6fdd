// Attacks on the socket that carries a sandbox's frames into a container. The control is always a socket of the host,
// which nothing closes.
import type { Attack } from '../attack.ts'
import { NATIVE } from './linux.ts'

const kind = 'frames'

/** Python that applies `visit(place)` to every socket with a name. */
const forEachSocket = (visit: string): string => `
import os, socket, stat
def visit(place):
${visit}
for place in [UNIX_SOCKET] + [line.split()[4] for line in open('/proc/self/mountinfo')]:
    try:
        if stat.S_ISSOCK(os.stat(place).st_mode): visit(place)
    except OSError: continue`

export const linuxChannelAttacks: Attack[] = [
  {
    name: 'a second connection to the bridge',
    kind,
    ...NATIVE,
    code: forEachSocket(`
    visitor = socket.socket(socket.AF_UNIX)
    visitor.connect(place)
    visitor.sendall(b'hello')
    print('ESCAPED')`),
  },
  {
    name: 'changes to a file of the host that the channel came over',
    kind,
    ...NATIVE,
    code: forEachSocket(`
    about = os.stat(place)
    for change in (lambda: os.utime(place), lambda: os.chmod(place, about.st_mode), lambda: os.link(place, place + '.link')):
        try: change()
        except OSError: continue
        print('ESCAPED')`),
  },
]
