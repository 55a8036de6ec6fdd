// The sandbox's process. It makes an empty context, copies bytes into it, starts Python there, and never takes control
// back. No object or function of Node's realm may become reachable from the context: only numbers, strings and buffers
// made in the context go in. Arguments: the bundle's folder, then 'serve' or 'build', then the sizes as JSON.
// CommonJS, like pump.cjs: without the loader of ECMAScript modules, a start takes 45 ms less of processor time.
'use strict'
const { closeSync, fstatSync, openSync, readFileSync, readSync, writeSync } = require('node:fs')
const { randomFillSync } = require('node:crypto')
const vm = require('node:vm')
const { MessageChannel, Worker } = require('node:worker_threads')

const [bundle, mode, sizesJson] = process.argv.slice(2)
const building = mode === 'build'
// Node 22 and newer let a thread read all of the folder in which its process is, whatever its flags say.
process.chdir(bundle)
const die = process.kill.bind(process, process.pid, 'SIGKILL')

/**
 * Writes the reason to stderr, for the bridge's log only, and ends at once. Never called with a value from the context.
 */
function fail(message) {
  try {
    writeSync(2, `sandbridge: ${message}\n`)
  } finally {
    die()
  }
}
process.on('uncaughtException', () => fail('unexpected error'))
process.on('unhandledRejection', () => fail('unexpected rejection'))

const RING_BYTES = 1 << 20
const context = vm.createContext(Object.create(null), {
  name: 'python',
  codeGeneration: { strings: false, wasm: true },
})
const evaluate = (code) => vm.runInContext(code, context, { filename: 'sandbridge' })
const text = (name) => readFileSync(`${bundle}/${name}`, 'utf8')
const evaluateFile = (name) => new vm.Script(text(name), { filename: name }).runInContext(context)

/** Buffers of files that Python copies at its start. */
const copied = []

/** Reads a file straight into a buffer that belongs to the context. */
function bytes(name) {
  const file = openSync(`${bundle}/${name}`, 'r')
  const view = evaluate(`new Uint8Array(${fstatSync(file).size})`)
  for (let at = 0; at < view.length;) {
    const count = readSync(file, view, at, view.length - at, at)
    if (count === 0) fail(`${name} is shorter than its size`)
    at += count
  }
  closeSync(file)
  copied.push(view.buffer)
  return view
}

const input = evaluate('Object.create(null)')
input.control = evaluate('new Int32Array(new SharedArrayBuffer(64))')
input.inbound = evaluate(`new Uint8Array(new SharedArrayBuffer(${RING_BYTES}))`)
input.outbound = evaluate(`new Uint8Array(new SharedArrayBuffer(${RING_BYTES}))`)
input.interrupt = evaluate('new Uint8Array(new SharedArrayBuffer(1))')

if (!building) {
  // First, so that the threads start while this one loads Python.
  const rings = { control: input.control, inbound: input.inbound, outbound: input.outbound, interrupt: input.interrupt }
  // Flags of a thread replace those of its process. A pump needs the permission model, and no frozen intrinsics: no code
  // of a cell runs in it, and freezing them would take 30 ms of processor time in each.
  const execArgv = process.execArgv.filter((flag) =>
    /^--(?:(?:experimental-)?permission$|allow-fs-read=|no-warnings$)/.test(flag),
  )
  for (const direction of ['in', 'out']) {
    const pump = new Worker(`${bundle}/pump.cjs`, {
      workerData: { direction, ...rings },
      env: {},
      argv: [],
      execArgv,
      resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4, stackSizeMb: 1, codeRangeSizeMb: 8 },
    })
    pump.on('error', () => fail('the pump ended'))
    pump.on('exit', () => fail('the pump ended'))
  }
}

evaluateFile('prelude.js')
const key = evaluate('new Uint8Array(32)')
randomFillSync(key)
evaluate('__sandbridgeSeed')(key)
evaluate('delete globalThis.__sandbridgeSeed')

let codeCache
if (!building) codeCache = readFileSync(`${bundle}/glue.cache`)
const glue = new vm.Script(text('glue.js'), { filename: 'glue.js', ...(codeCache && { cachedData: codeCache }) })
glue.runInContext(context)

const sizes = JSON.parse(sizesJson)
input.heapMaxBytes = Number(sizes.heapMaxBytes)
input.filesMaxBytes = Number(sizes.filesMaxBytes)
input.lockFile = text('lock.json')
input.filesIndex = text('files.json')
input.files = bytes('files.bin')
input.wasm = bytes('pyodide.asm.wasm')
input.stdlib = bytes('python_stdlib.zip')
if (!building) input.snapshot = bytes('snapshot.bin')
input.restoreHeap = evaluateFile('restore-heap.js')
input.addDevices = evaluateFile('devices.js')
input.limitFiles = evaluateFile('files.js')
input.addJavaScript = evaluateFile('javascript.js')

// Only our code and Pyodide's runs before it has started.
evaluateFile('boot.js')(input).then(serve, (error) => fail(`Python did not start: ${error}`))

function serve(python) {
  if (building) {
    // The results go to stdout, after their lengths: see snapshot.ts. This process may not write files.
    const { snapshot, compiled, compiledIndex } = python
    const results = [snapshot, glue.createCachedData(), Buffer.from(compiledIndex), compiled]
    const header = Buffer.from(Float64Array.from(results, ({ length }) => length).buffer)
    for (const part of [header, ...results]) {
      for (let at = 0; at < part.length;) at += writeSync(1, part, at, part.length - at)
    }
    process.exit(0)
  }

  // Python has its own copies of the files now. A message to a closed port is dropped at once, with the buffers that go
  // with it. An open port would keep it for the next turn of the event loop, which never comes, and a garbage collection
  // would take 20 ms.
  const { port1 } = new MessageChannel()
  port1.close()
  port1.postMessage(null, copied)

  // From here on only code inside the context runs on this thread.
  const ends = ['the kernel ended', 'out of memory', 'Python crashed: recursion too deep', 'Python crashed']
  fail(ends[python.serve()] ?? 'Python crashed')
}
