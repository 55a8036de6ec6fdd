// Runs in the empty context, after the glue: starts Pyodide, gives Python its devices, and enters the kernel.
// `input` is made in the context: {wasm, stdlib, snapshot?, files, filesIndex, lockFile, heapMaxBytes, filesMaxBytes},
// the rings and the functions of restore-heap.js, devices.js, files.js and javascript.js. The script's value is a
// function. Code outside the context calls what it resolves to, and gets only numbers and bytes back.
'use strict'
// oxlint-disable-next-line no-unused-expressions -- the function is the value of this script
;async (input) => {
  const { loadPyodide, createPyodideModule } = globalThis.__sandbridgeGlue
  delete globalThis.__sandbridgeGlue
  globalThis.__sandbridgeHeapMaxBytes = input.heapMaxBytes
  const building = input.snapshot === undefined
  // The limit of Python's own stack, which lies in its memory. A call in C takes several times as much of the thread's
  // real stack, which has no guard. With this limit and a real stack of 64 MB, Python's stack ends first, and Python
  // raises a RecursionError.
  const STACK_BYTES = 3 << 20

  // Every value is set here and none comes from the process: a cell can read all of its memory.
  const ENVIRONMENT = {
    HOME: '/home/sandbox',
    USER: 'sandbox',
    LOGNAME: 'sandbox',
    PATH: '/usr/bin',
    PWD: '/workspace',
    LANG: 'C.UTF-8',
    _: 'python',
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONHASHSEED: '0',
  }

  const PRELOAD =
    'import asyncio, ast, base64, collections, contextlib, copy, csv, dataclasses, datetime, decimal, difflib, enum, functools, hashlib, heapq, ' +
    'inspect, io, itertools, json, linecache, math, operator, os, pathlib, random, re, shutil, signal, statistics, string, struct, sys, tempfile, ' +
    'textwrap, time, traceback, types, typing, urllib.parse, uuid, zoneinfo\n'

  // Other sandboxes load these on demand from compiled files. Here there are no compiled files, and compiling one costs
  // a cell tens of milliseconds.
  const KERNEL =
    'import sandbridge_kernel.pyodide_main, sandbridge_kernel.run.projects, sandbridge_kernel.run.checkpoint, sandbridge_kernel.languages, sandbridge_kernel.run.ipython_shell, sandbridge_kernel.javascript.cell, sandbridge_kernel.javascript.quickjs, sandbridge_kernel.failure.program_hints, sandbridge_kernel.source.repairs, sandbridge_kernel.data.rows, ' +
    'sandbridge_kernel.source.cell_function, sandbridge_kernel.api.complete\n'

  // Removes everything that leads from Python to JavaScript before the heap becomes the snapshot: the finder with its
  // modules, and every proxy of a JavaScript object, wherever it is held. This is slow, and happens once. Pyodide needs
  // some of the proxies when it restores a snapshot, so one list keeps them alive until the kernel starts.
  const TAKE_OUT_PROXIES = `
def take_out_proxies():
    import gc, sys
    held = []
    def is_proxy(value):
        return any(base.__name__ == 'JsProxy' for base in type(value).__mro__)
    for finder in list(sys.meta_path):
        if hasattr(finder, 'jsproxies'):
            held.extend(finder.jsproxies.values())
            finder.jsproxies.clear()
            sys.meta_path.remove(finder)
    for name in ('js', 'pyodide_js', 'pyodide_js._api'):
        held.append(sys.modules.pop(name, None))
    for holder in gc.get_objects():
        if holder is held:
            continue
        if type(holder) is dict:
            for key in [key for key, value in list(holder.items()) if is_proxy(value)]:
                held.append(holder.pop(key))
        elif type(holder) is list:
            held.extend(value for value in holder if is_proxy(value))
            holder[:] = [value for value in holder if not is_proxy(value)]
        else:
            for key in [key for key, value in list(getattr(holder, '__dict__', {}).items()) if is_proxy(value)]:
                held.append(getattr(holder, key))
                delattr(holder, key)
    sys.held_proxies = held
    gc.collect()
take_out_proxies()
del take_out_proxies
`
  // Pyodide needs its own modules until it has started. Cells must not see them.
  const FORGET_PYODIDE = `
def forget():
    import sys
    for name in list(sys.modules):
        if name.partition('.')[0] in ('js', 'pyodide_js', 'pyodide', '_pyodide', '_pyodide_core'):
            del sys.modules[name]
    del sys.held_proxies
forget()
del forget
`

  const PACKAGES = '/usr/lib/site-packages'
  // Seven eighths of an import is compiling. The files are marked as never to be compared with their sources, which
  // every start writes anew. Runs no code of a package.
  const COMPILE_PACKAGES = `
import compileall, py_compile, re
compileall.compile_dir('${PACKAGES}', quiet=2, rx=re.compile('/tests/'),
    invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
`
  // Returns the compiled files, concatenated, and where each is: [path, start, end].
  const compiledPackages = (FS) => {
    const [compiledIndex, parts] = [[], []]
    let at = 0
    const collect = (folder) => {
      for (const name of FS.readdir(folder)) {
        const path = `${folder}/${name}`
        if (name !== '.' && name !== '..' && FS.isDir(FS.stat(path).mode)) collect(path)
        if (!name.endsWith('.pyc')) continue
        const part = FS.readFile(path)
        parts.push(part)
        compiledIndex.push([path, at, (at += part.length)])
      }
    }
    if (hasPackages) collect(PACKAGES)
    const compiled = new Uint8Array(at)
    for (const [place, [, start]] of compiledIndex.entries()) compiled.set(parts[place], start)
    return { compiled, compiledIndex: JSON.stringify(compiledIndex) }
  }

  globalThis.__sandbridgeRestore = input.restoreHeap
  const urls = { '/bundle/pyodide.asm.wasm': input.wasm, '/bundle/python_stdlib.zip': input.stdlib }
  globalThis.readbuffer = (path) => {
    const bytes = urls[path]
    if (bytes === undefined) throw new Error(`no file ${path}`)
    return bytes.buffer
  }
  const pyodide = await loadPyodide({
    indexURL: '/bundle/',
    packageBaseUrl: '/bundle/',
    createPyodideModule,
    lockFileContents: input.lockFile,
    jsglobals: building ? {} : Object.freeze(Object.create(null)),
    stdin: () => null,
    stdout: () => {},
    stderr: () => {},
    env: ENVIRONMENT,
    enableRunUntilComplete: false,
    _makeSnapshot: building,
    _loadSnapshot: input.snapshot,
  })
  delete globalThis.readbuffer
  delete globalThis.__sandbridgeRestore
  pyodide._api.config._loadSnapshot = undefined
  input.snapshot = input.wasm = input.stdlib = undefined
  for (const name of Object.keys(urls)) delete urls[name]

  // Files are JavaScript objects and not part of the restored heap, so every start writes them.
  const { FS } = pyodide
  const index = JSON.parse(input.filesIndex)
  const hasPackages = index.some(([path]) => path.startsWith(`${PACKAGES}/`))
  for (const [path, start, end] of index) {
    FS.mkdirTree(path.slice(0, path.lastIndexOf('/')))
    FS.writeFile(path, input.files.subarray(start, end))
  }
  input.files = undefined
  for (const folder of ['/workspace', '/tmp', '/home/sandbox']) FS.mkdirTree(folder)
  FS.chdir('/workspace')
  const enter = "import sys\nif '/usr/lib/sandbridge' not in sys.path: sys.path.append('/usr/lib/sandbridge')\n"

  if (building) {
    pyodide.runPython(`${PRELOAD}${enter}${KERNEL}${TAKE_OUT_PROXIES}`)
    const snapshot = pyodide.makeMemorySnapshot()
    // Packages are not part of the snapshot: it cannot hold the shared libraries of those that have some.
    if (hasPackages) pyodide.runPython(COMPILE_PACKAGES)
    return { snapshot, ...compiledPackages(FS) }
  }

  input.limitFiles(FS, input.filesMaxBytes)
  const { interrupt, heapMaxBytes } = input
  input.addJavaScript(FS, { interrupt, heapMaxBytes, ...input.addDevices(FS, input) })
  // Pyodide reads the interrupt and then writes zero. An interrupt between the two would be lost, so the read clears it
  // and the write does nothing.
  pyodide.setInterruptBuffer({
    get 0() {
      return interrupt[0] === 0 ? 0 : Atomics.exchange(interrupt, 0, 0)
    },
    set 0(_) {},
  })
  const { _module: wasm } = pyodide
  const base = wasm._emscripten_stack_get_base()
  wasm._PyUnstable_ThreadState_SetStackProtection(wasm._PyThreadState_Get(), base - STACK_BYTES, STACK_BYTES)
  // Before stack traces are turned off below, so that a failed import of the kernel is reported with its cause.
  const withPackages = hasPackages ? `sys.path.append('${PACKAGES}')\n` : ''
  pyodide.runPython(`${enter}${withPackages}${FORGET_PYODIDE}import sandbridge_kernel.pyodide_main\n`)
  // Node formats every stack trace in its own realm. A stack overflow during that throws an error of Node's realm into
  // ours. V8 keeps no trace when this property is not a plain number, and then Node is not called. It is an accessor
  // because Pyodide assigns to it. prelude.js does not set it: until here, a trace shows why Python did not start.
  Object.defineProperty(Error, 'stackTraceLimit', { get: () => undefined, set() {}, configurable: false })
  return {
    /**
     * Enters the kernel and returns when Python has ended: 0 if it exited, 1 if it ran out of memory,
     * 2 after too deep a recursion, 3 for any other reason.
     */
    serve() {
      try {
        pyodide.runPython('sandbridge_kernel.pyodide_main.serve()')
        return 0
      } catch (error) {
        // The cell may have made the error: reading it must not throw again, out of the context.
        try {
          if (error?.name === 'Exit') return 0
          if (error instanceof RangeError) return error.message.includes('call stack') ? 2 : 1
        } catch {}
        return 3
      }
    },
  }
}
