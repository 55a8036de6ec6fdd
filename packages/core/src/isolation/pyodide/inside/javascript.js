// Runs in the empty context: JavaScript cells, in QuickJS compiled to WebAssembly. Python drives it through a character
// device (sandbridge_kernel/javascript/). The script's value is a function. QuickJS interprets a cell's code,
// which reaches only the functions of `host` below. These take and return numbers, texts and bytes only.
'use strict'
// oxlint-disable-next-line no-unused-expressions -- the function is the value of this script
;(fs, { interrupt, heapMaxBytes, device, writeFrames }) => {
  const EIO = 29
  const EINVAL = 28
  const STACK_BYTES = 512 << 10
  const BREAK_OFF_MS = 200
  const BATCH_CHARS = 16_384
  const BATCH_MS = 50
  const MAX_REJECTIONS = 1000
  const MAX_WAITING_BYTES = 32 << 20
  const APPEND = 1089
  const encoder = new TextEncoder()
  const decoder = new TextDecoder()

  let module
  let types
  let engine
  let cell = 0
  /** Bytes that Python has not read yet. */
  const waiting = []
  let waitingBytes = 0
  let printed = { stream: 'stdout', text: '', due: 0 }

  const discard = () => {
    waiting.length = 0
    waitingBytes = 0
  }
  const say = (bytes) => {
    waitingBytes += bytes.length + 1
    if (waitingBytes > MAX_WAITING_BYTES) throw new Error('it said too much at once')
    waiting.push(bytes, Uint8Array.of(10))
  }

  // ---- output: separate frames, so that it appears while the code runs. Python is inside its write to the device
  // meanwhile and sends no frames.

  const flush = () => {
    const { stream, text } = printed
    printed = { stream, text: '', due: Date.now() + BATCH_MS }
    if (text === '') return
    const frame = encoder.encode(`${JSON.stringify({ type: 'output', cell, stream, text })}\n`)
    writeFrames(undefined, frame, 0, frame.length)
  }

  const print = (stream, text) => {
    if (stream !== printed.stream) {
      flush()
      printed.stream = stream
    }
    // Long text is split, so that no frame comes near the size limit.
    for (let at = 0; at < text.length; at += BATCH_CHARS) {
      printed.text += text.slice(at, at + BATCH_CHARS)
      if (printed.text.length >= BATCH_CHARS || Date.now() >= printed.due) flush()
    }
  }

  // ---- files: regular files and folders of Python's file system

  const statOf = (path) => {
    const { mode, size, mtime } = fs.stat(path)
    return { isFile: fs.isFile(mode), isFolder: fs.isDir(mode), size, mtimeMs: Number(mtime) }
  }
  const regular = (path, mayBeMissing) => {
    if (mayBeMissing && !fs.analyzePath(path).exists) return path
    if (!statOf(path).isFile) throw new fs.ErrnoError(EINVAL)
    return path
  }
  const FILES = {
    __proto__: null,
    stat: statOf,
    list: (path) => fs.readdir(path).filter((name) => name !== '.' && name !== '..'),
    makeFolder: (path) => fs.mkdir(path) && null,
    removeFile: (path) => fs.unlink(path) ?? null,
    removeFolder: (path) => fs.rmdir(path) ?? null,
    rename: (from, to) => fs.rename(from, to) ?? null,
    enter: (path) => fs.chdir(path) ?? null,
    folder: () => fs.cwd(),
  }

  // ---- one QuickJS

  /** @param program text of a function's body, which is given `host` */
  const start = (program) => {
    let broken = false
    let wantsTurn = false
    let rejections = []
    let receiver, onRejection, moduleSource
    let e

    const view = () => new DataView(e.memory.buffer)
    const memory = (at, length) => new Uint8Array(e.memory.buffer, at, length)
    const allocate = (length) => {
      const at = e.wasm_malloc(length)
      if (at === 0) throw new Error('out of memory')
      return at
    }
    /** Copies bytes into its memory, with a terminating zero. */
    const put = (bytes) => {
      const at = allocate(bytes.length + 1)
      const place = memory(at, bytes.length + 1)
      place.set(bytes)
      place[bytes.length] = 0
      return at
    }
    const withCopy = (bytes, use) => {
      const at = put(bytes)
      try {
        return use(at, bytes.length)
      } finally {
        e.wasm_free(at)
      }
    }
    const withNumber = (use) => withCopy(new Uint8Array(4), (at) => [use(at), view().getUint32(at, true)])
    const bytesOfText = (value) => {
      const [at, length] = withNumber((out) => e.qjs_get_string_len(value, out))
      if (at === 0) return undefined
      const bytes = memory(at, length).slice()
      e.qjs_free_cstring(at)
      return bytes
    }
    const textOf = (value) => {
      const bytes = bytesOfText(value)
      return bytes && decoder.decode(bytes)
    }
    const nameAt = (at) => {
      const all = new Uint8Array(e.memory.buffer)
      return all.slice(at, all.indexOf(0, at))
    }
    const newText = (text) => withCopy(encoder.encode(text), (at, length) => e.qjs_new_string(at, length))

    /** Returns the value of a call, or 0 if it threw; the exception is then pending. */
    const call = (fn, ...values) => {
      const nothing = e.qjs_get_undefined()
      const list = allocate(4 * values.length + 4)
      for (const [at, value] of values.entries()) view().setUint32(list + 4 * at, value, true)
      const result = e.qjs_call(fn, nothing, values.length, list)
      e.wasm_free(list)
      e.qjs_free_value(nothing)
      return unlessThrown(result)
    }
    const unlessThrown = (result) => {
      if (!e.qjs_is_exception(result)) return result
      e.qjs_free_value(result)
      return 0
    }
    const evaluate = (source, file) =>
      withCopy(source, (at, length) => withCopy(file, (name) => unlessThrown(e.qjs_eval(at, length, name, 0))))
    const forget = (value) => e.qjs_free_value(value === 0 ? e.qjs_get_exception() : value)
    /** What QuickJS has no memory for is lost, and somebody would wait for it. */
    const forgetUnlessFull = (result) => {
      const value = result === 0 ? e.qjs_get_exception() : result
      const text = result === 0 ? textOf(value) : ''
      forget(value)
      if (text === undefined || text === 'null' || text.includes('out of memory')) throw new Error('out of memory')
    }
    /** Returns what `use` returns, or the errno of a failed file operation. */
    const inFiles = (use) => {
      try {
        return use()
      } catch (error) {
        return e.qjs_new_number(typeof error?.errno === 'number' ? error.errno : EIO)
      }
    }

    /** Each takes and returns pointers to values of QuickJS. */
    const host = {
      __proto__: null,
      send(line) {
        const bytes = bytesOfText(line)
        if (bytes?.includes(10)) throw new Error('it said what it should not')
        if (bytes) say(bytes)
      },
      print(stream, text) {
        print(textOf(stream) === 'stderr' ? 'stderr' : 'stdout', textOf(text) ?? '')
      },
      evaluate: (source, file) => {
        const bytes = bytesOfText(source)
        return bytes ? evaluate(bytes, bytesOfText(file) ?? new Uint8Array()) : 0
      },
      types: () => {
        const made = evaluate(types, encoder.encode('types'))
        if (made === 0) return 0
        const exports = e.qjs_new_object()
        const result = call(made, exports)
        for (const value of [made, exports]) e.qjs_free_value(value)
        return result
      },
      turn() {
        wantsTurn = true
      },
      connect(...functions) {
        ;[receiver, onRejection, moduleSource] = functions.map((one) => e.qjs_dup_value(one))
      },
      readFile: (path) =>
        inFiles(() => {
          const bytes = fs.readFile(regular(textOf(path)))
          return withCopy(bytes, (at, length) => e.qjs_new_array_buffer(at, length))
        }),
      writeFile: (path, content, how) =>
        inFiles(() => {
          const [at, length] = withNumber((out) => e.qjs_get_array_buffer(content, out))
          const options = textOf(how) === 'append' ? { flags: APPEND } : {}
          fs.writeFile(regular(textOf(path), true), at === 0 ? new Uint8Array() : memory(at, length).slice(), options)
        }),
      file: (what, ...given) =>
        inFiles(() => newText(JSON.stringify(FILES[textOf(what)](...given.map((one) => textOf(one)))))),
    }

    const isStopped = () => broken || interrupt[0] !== 0
    const imports = {
      env: {
        host_call(name, length, _this, count, list) {
          const given = Array.from({ length: Math.min(count, 8) }, (_, at) => view().getUint32(list + 4 * at, true))
          const result = host[decoder.decode(memory(name, length))]?.(...given)
          return result ?? e.qjs_get_undefined()
        },
        host_interrupt() {
          if (printed.text !== '' && Date.now() >= printed.due) flush()
          return isStopped() ? 1 : 0
        },
        host_promise_rejection(promise, reason, isHandled) {
          if (rejections.length < MAX_REJECTIONS) rejections.push([promise, reason, isHandled])
          else for (const value of [promise, reason]) e.qjs_free_value(value)
        },
        host_module_normalize: (_from, name) => put(nameAt(name)),
        host_module_load(name, out) {
          const asked = withCopy(nameAt(name), (at, length) => e.qjs_new_string(at, length))
          const source = call(moduleSource, asked)
          e.qjs_free_value(asked)
          if (source === 0) return 0
          const bytes = bytesOfText(source) ?? new Uint8Array()
          e.qjs_free_value(source)
          view().setUint32(out, bytes.length, true)
          return put(bytes)
        },
        host_get_timezone_offset: () => 0,
      },
      wasi_snapshot_preview1: {
        clock_time_get(_clock, _precision, out) {
          view().setBigUint64(out, BigInt(Date.now()) * 1_000_000n, true)
          return 0
        },
        random_get(at, length) {
          crypto.getRandomValues(memory(at, length))
          return 0
        },
        fd_close: () => 8,
        fd_fdstat_get: () => 8,
        fd_seek: () => 8,
        fd_write: () => 8,
      },
    }

    e = new WebAssembly.Instance(module, imports).exports
    e._initialize()
    if (e.qjs_init() !== 0) throw new Error('QuickJS does not start')
    e.qjs_set_max_stack_size(STACK_BYTES)
    e.qjs_set_interrupt_handler(1)
    e.qjs_set_promise_rejection_handler(1)
    e.qjs_set_module_loader(1)

    const given = e.qjs_new_object()
    for (const name of Object.keys(host)) {
      withCopy(encoder.encode(name), (at, length) => {
        const made = e.qjs_new_host_function(at, length, 0)
        e.qjs_set_prop_string(given, at, made)
        e.qjs_free_value(made)
      })
    }

    /** Runs jobs until none is left, or until an interrupt. */
    const runJobs = () => {
      for (;;) {
        while (!isStopped() && e.qjs_is_job_pending()) if (e.qjs_execute_pending_job() < 0) forgetUnlessFull(0)
        const told = rejections
        rejections = []
        for (const [promise, reason, isHandled] of told) {
          const handled = isHandled ? e.qjs_get_true() : e.qjs_get_false()
          forget(call(onRejection, promise, reason, handled))
          for (const value of [promise, reason, handled]) e.qjs_free_value(value)
        }
        if (isStopped() || (told.length === 0 && !wantsTurn)) return
        if (wantsTurn && told.length === 0) {
          wantsTurn = false
          deliver('{"type":"turn"}')
        }
      }
    }
    const deliver = (line) => {
      const text =
        typeof line === 'string' ? newText(line) : withCopy(line, (at, length) => e.qjs_new_string(at, length))
      const isMade = unlessThrown(text) !== 0
      forgetUnlessFull(isMade ? call(receiver, text) : 0)
      if (isMade) e.qjs_free_value(text)
    }

    const made = evaluate(program, encoder.encode('runner'))
    if (made === 0 || call(made, given) === 0) throw new Error(textOf(e.qjs_get_exception()))
    return {
      memoryBytes: () => e.memory.buffer.byteLength,
      limit: (bytes) => e.qjs_set_memory_limit(bytes),
      take(line) {
        deliver(line)
        runJobs()
      },
      /**
       * Stops the jobs that the cell has left. Each one runs into the interrupt; a job that restarts itself for ever
       * does not stop this way.
       */
      breakOff() {
        broken = true
        const end = Date.now() + BREAK_OFF_MS
        while (e.qjs_is_job_pending()) {
          if (e.qjs_execute_pending_job() < 0) forget(0)
          if (Date.now() > end) throw new Error('it does not stop')
        }
        broken = false
        deliver('{"type":"interrupt"}')
      },
    }
  }

  const WORK = {
    __proto__: null,
    W: (bytes) => void (module = new WebAssembly.Module(bytes)),
    T: (bytes) => void (types = bytes),
    P: (bytes) => void (engine = start(bytes)),
    C: (bytes) => void (cell = Number(decoder.decode(bytes))),
    M: (bytes) => engine.take(bytes),
    I: () => engine.breakOff(),
    E() {
      engine = undefined
      discard()
    },
  }

  const write = (_stream, buffer, offset, length) => {
    const bytes = buffer.slice(offset + 1, offset + length)
    try {
      // Both heaps share one limit, and neither shrinks. QuickJS may take half of what Python leaves, so that Python
      // can still grow.
      engine?.limit(Math.max(1, (heapMaxBytes - buffer.length) >>> 1))
      WORK[String.fromCharCode(buffer[offset])](bytes)
      return length
    } catch (error) {
      engine = undefined
      discard()
      let why = ''
      try {
        why = String(error?.message).slice(0, 200)
      } catch {}
      say(encoder.encode(why))
      throw new fs.ErrnoError(EIO)
    } finally {
      globalThis.__sandbridgeHeapMaxBytes = heapMaxBytes - (engine?.memoryBytes() ?? 0)
      flush()
    }
  }

  const read = (_stream, buffer, offset, length) => {
    let count = 0
    while (waiting.length > 0 && count < length) {
      const piece = waiting[0].subarray(0, length - count)
      buffer.set(piece, offset + count)
      count += piece.length
      if (piece.length === waiting[0].length) waiting.shift()
      else waiting[0] = waiting[0].subarray(piece.length)
    }
    waitingBytes -= count
    return count
  }

  device(3, '/dev/sandbridge-javascript', read, write)
}
