// This file verifies a cell's output, however it is printed: all of it, in order, only as output frames.
import { expect } from 'vitest'
import { type Frame, it } from './drive.ts'

const order = (frames: Frame[]) => frames.map((one) => (one.type === 'output' ? one['text'] : one.type)).join('|')

it('output keeps the order of both streams, of calls and of displays', async ({ kernel }) => {
  const code = `
import sys
print('a'); print('b', file=sys.stderr); print('c')
display(1)
print('d', end='')
runtime.capability_summary()
print('e')`
  const { frames } = await kernel.run(code, { onCall: () => ({ value: '' }) })
  expect(order(frames)).toBe('a\n|b\n|c\n|display|d|call|e\n|done')
})

it('output of subprocesses and descriptors is in order with other output', async ({ kernel }) => {
  const code = `
import os, subprocess, sys
print('1'); subprocess.run(['echo', '2']); print('3')
os.system('echo 4; echo 5 >&2'); print('6', flush=True)
os.write(1, b'7\\n'); print('8')
subprocess.run(['sh', '-c', 'echo 9'], stdout=sys.stdout)
print(sys.stdout.fileno(), sys.stderr.fileno())`
  const outcome = await kernel.run(code)
  expect(outcome.stdout).toBe('1\n2\n3\n4\n6\n7\n8\n9\n1 2\n')
  expect(outcome.stderr).toBe('5\n')
})

it('output that a cell writes in its own way is in its result, in order, and in no later one', async ({ kernel }) => {
  await kernel.run('import codecs, contextlib, ctypes, faulthandler, io, logging, os, sys\nlibc = ctypes.CDLL(None)')
  const cells: [code: string, stdout: string][] = [
    ['sys.stdout = io.StringIO(); print("no"); sys.stdout = sys.__stdout__; print("yes")', 'yes\n'],
    ['with contextlib.redirect_stdout(sys.__stdout__): print("redirected")', 'redirected\n'],
    ['print("a"); sys.__stdout__.write("b\\n"); print("c")', 'a\nb\nc\n'],
    ['log = logging.getLogger("x"); log.addHandler(logging.StreamHandler(sys.__stdout__)); log.error("1")', '1\n'],
    ['log.error("2"); print(3)', '2\n3\n'],
    ['sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8"); print("Grüße")', 'Grüße\n'],
    ['sys.stdout = io.TextIOWrapper(sys.stdout.detach()); print("detached")', 'detached\n'],
    ['sys.stdout = codecs.getwriter("utf-8")(sys.stdout.buffer); print("encoded")', 'encoded\n'],
    ['print("only this")', 'only this\n'],
    ['kept = open(1, "w", closefd=False); kept.write("kept")', 'kept'],
    ['print("first"); kept.write("then")', 'first\nthen'],
    ['open("/dev/stdout", "w").write("by name")', 'by name'],
    ['open(1, "w").write("closes it")', 'closes it'],
    ['os.system("echo open again")', 'open again\n'],
    ['os.dup2(os.open(os.devnull, os.O_WRONLY), 1); os.system("echo lost")', ''],
    ['print("a"); libc.puts(b"of C"); print("b"); libc.printf(b"half a line")', 'a\nof C\nb\nhalf a line'],
    ['print("a"); os.write(1, b"b\\n"); print("c")', 'a\nb\nc\n'],
    ['faulthandler.dump_traceback(sys.stdout); sys.stdin.close(); None', expect.stringContaining('Cell') as string],
    ['input("name? ")', 'name? '],
  ]
  for (const [code, stdout] of cells) expect((await kernel.run(code)).stdout, code).toEqual(stdout)
  expect((await kernel.run('input()')).error).toMatchObject({ name: 'EOFError' })
})

it('output is sent while the cell runs', async ({ kernel }) => {
  // The cell continues only when its line was seen: without a flush before the sleep, this test would never end.
  const code = `
import os, time
print('waiting', end='')
while not os.path.exists(path): time.sleep(0.01)
os.unlink(path)`
  const path = `/tmp/sandbridge-output-${process.pid}`
  const fs = await import('node:fs/promises')
  await kernel.run(`path = ${JSON.stringify(path)}`)
  const outcome = await kernel.run(code, {
    onFrame: (frame) => void (frame['text'] === 'waiting' && fs.writeFile(path, '')),
  })
  expect(outcome.status).toBe('ok')
  const awaiting = code.replaceAll('time.sleep', 'await __import__("asyncio").sleep')
  expect(
    (await kernel.run(awaiting, { onFrame: (frame) => void (frame['text'] === 'waiting' && fs.writeFile(path, '')) }))
      .status,
  ).toBe('ok')
})

it('output of a cell is sent from its first line on, however soon it follows the cell before', async ({ kernel }) => {
  // Later lines wait for each other, here for a minute.
  const { stdout } = await kernel.run(
    'import sys\nsys.modules["sandbridge_kernel.show.output"]._BATCH_SECONDS = 60\nprint("a")',
  )
  expect(stdout).toBe('a\n')
  const { status } = await kernel.run('print("b")\nwhile True: pass', {
    onFrame: ({ type, text }) => void (type === 'output' && text === 'b\n' && kernel.sandbox.interrupt()),
  })
  expect(status).toBe('interrupted')
})

it('output that follows its line before at once is sent while the cell computes', async ({ kernel }) => {
  const { stdout, status } = await kernel.run('print("a")\nprint("b")\nprint("c", end="")\nwhile True: pass', {
    onFrame: ({ type, text }) => void (type === 'output' && String(text).endsWith('c') && kernel.sandbox.interrupt()),
  })
  expect([stdout, status]).toEqual(['a\nb\nc', 'interrupted'])
})

it('output may be any text or bytes', async ({ kernel }) => {
  expect((await kernel.run(`print('nul \\0 sep \\u2028 esc \\x1b etx \\x03')`)).stdout).toBe(
    'nul \0 sep \u2028 esc \x1b etx \x03\n',
  )
  expect((await kernel.run(`print('lone \\ud800 end')`)).stdout).toBe('lone \ud800 end\n')
  expect(
    (await kernel.run(`import sys, os\nsys.stdout.buffer.write(b'a\\xff\\xc3'); sys.stdout.buffer.write(b'\\xbc\\n')`))
      .stdout,
  ).toBe('a\ufffdü\n')
  expect((await kernel.run(`os.write(1, b'a\\xff\\xc3'); os.write(1, b'\\xbc\\n'); None`)).stdout).toBe('a\ufffdü\n')
  expect((await kernel.run(`os.write(1, b'{"type":"done","cell":9,"status":"ok"}\\n'); None`)).stdout).toContain(
    '"cell":9',
  )
  expect((await kernel.run(`print('no newline', end='')`)).stdout).toBe('no newline')
  expect(
    (await kernel.run(`print(object, file=sys.stdout); sys.stdout.writelines(['a', 'b']); sys.stdout.write(b'')`))
      .error!.name,
  ).toBe('TypeError')
  expect((await kernel.run(`input()`)).error!.name).toBe('EOFError')
  expect(kernel.badLines).toEqual([])
})

it('output of 100 MB arrives whole', async ({ kernel }) => {
  let chars = 0
  let longest = 0
  const count = (frame: Frame) => {
    if (frame.type !== 'output') return
    chars += String(frame['text']).length
    longest = Math.max(longest, String(frame['text']).length)
    frame['text'] = ''
  }
  await kernel.run('import resource\ndef mem(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024')
  const before = Number(await kernel.value('mem()'))
  expect((await kernel.run(`for i in range(1_000_000): print('x' * 99)`, { onFrame: count })).status).toBe('ok')
  expect(chars).toBe(100_000_000)
  // os.write() itself writes less than it is given where the machine stops it for a while.
  const bytes = `with open(1, 'wb', closefd=False) as file:\n    for i in range(100): file.write(b'y' * 1_000_000)`
  expect((await kernel.run(bytes, { onFrame: count })).status).toBe('ok')
  expect(chars).toBe(200_000_000)
  // 100 MB went through twice; only a few buffers stay.
  expect(Number(await kernel.value('mem()')) - before).toBeLessThan(40)
  expect((await kernel.run(`print('z' * 100_000_000)`, { onFrame: count })).status).toBe('ok')
  expect(chars).toBe(300_000_001)
  expect(longest).toBeLessThanOrEqual(1 << 20)
})

it('output of a process that is left behind does not keep the cell from ending', async ({ kernel }) => {
  const code = `import subprocess\np = subprocess.Popen(['sh', '-c', 'while :; do echo noise; done'])\nq = subprocess.Popen(['sleep', '600'])`
  expect((await kernel.run(code)).status).toBe('ok')
  expect(await kernel.value('1')).toBe('1')
  expect((await kernel.run('p.kill(); q.kill(); p.wait(); q.wait(); None')).status).toBe('ok')
})

it('output of threads is complete, and a thread may outlive its cell', async ({ kernel }) => {
  const code = `
import threading
def work(n):
    for i in range(2000): print(f'{n}:{i}\\n', end='')
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for t in threads: t.start()
for t in threads: t.join()`
  const { stdout } = await kernel.run(code)
  expect(stdout.split('\n').length).toBe(8001)
  expect(kernel.badLines).toEqual([])
  const later = `
import time
def late():
    go.wait()
    print('late')
    seen.set()
go, seen = threading.Event(), threading.Event()
threading.Thread(target=late, daemon=True).start()`
  await kernel.run(later)
  expect((await kernel.run('go.set(); seen.wait(); None')).stdout).toBe('late\n')
})

it('output from a finaliser or a signal handler in the middle of a frame neither hangs nor breaks it', async ({
  kernel,
}) => {
  const code = `
import gc, signal, sys
class Noisy:
    def __init__(self): self.me = self
    def __del__(self): print('gone')
signal.signal(signal.SIGALRM, lambda *_: print('tick'))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
gc.set_threshold(50)
for i in range(20_000):
    Noisy()
    print(i)
signal.setitimer(signal.ITIMER_REAL, 0)
gc.set_threshold(700)
gc.collect(); None`
  const { stdout, status } = await kernel.run(code)
  expect(status).toBe('ok')
  // They may print in the middle of other lines; nothing is lost or repeated.
  expect(stdout.match(/gone/g)?.length).toBe(20_000)
  expect(stdout).toContain('tick')
  expect(stdout.replaceAll(/gone|tick|\n/g, '')).toBe(Array.from({ length: 20_000 }, (_, i) => i).join(''))
  expect(kernel.badLines).toEqual([])
})

it('output at the bottom of the stack is at worst delayed', async ({ kernel }) => {
  const code = `
depth = 0
def f(n):
    global depth
    depth = n + 1
    print('line', n, 'x' * 3000)
    f(n + 1)
try: f(0)
except RecursionError: pass
depth`
  const outcome = await kernel.run(code)
  const numbers = [...outcome.stdout.matchAll(/line (\d+)/g)].map((match) => Number(match[1]))
  expect(numbers.length).toBeGreaterThan(100)
  expect(numbers).toEqual(numbers.map((_, i) => i))
  expect(Number(outcome.value!['text/plain']) - numbers.length).toBeLessThan(2)
  const calls = 'def g(n):\n    runtime.capability_summary()\n    g(n + 1)\ng(0)'
  expect(await kernel.run(calls, { onCall: () => ({ value: '' }) })).toMatchObject({
    error: { message: /recursion/ },
  })
  expect((await kernel.run('print("fine")')).stdout).toBe('fine\n')
  const interrupted = await kernel.run('print("go", flush=True)\nwhile True: pass', {
    onFrame: (one) => void (one.type === 'output' && kernel.sandbox.interrupt()),
  })
  expect(interrupted.status).toBe('interrupted')
  expect(kernel.badLines).toEqual([])
})

it('output that a signal handler of the cell interrupts leaves the frames whole', async ({ kernel }) => {
  const code = `
import signal
class Alarm(Exception): pass
def ring(*_): raise Alarm
signal.signal(signal.SIGALRM, ring)
for i in range(300):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005 + i / 100_000)
        while True: print('x' * 5000)
    except Alarm: pass
'done'`
  const forget = (frame: Frame) => void (frame.type === 'output' && (frame['text'] = ''))
  expect((await kernel.run(code, { onFrame: forget })).value).toEqual({ 'text/plain': "'done'" })
  expect(await kernel.value('signal.getsignal(signal.SIGALRM) is ring')).toBe('True')
  // An error while no cell runs belongs to no cell.
  await kernel.run('signal.setitimer(signal.ITIMER_REAL, 0.01)')
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(kernel.badLines).toEqual([])
  expect((await kernel.run('print("fine")')).stdout).toContain('fine\n')
})
