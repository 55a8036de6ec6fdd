// Runs in the empty context, first: the few browser-like globals that Pyodide's glue expects, written in the context
// itself, and the removal of every built-in through which V8 would call back into Node. It must not use anything from
// outside.
'use strict'
;(() => {
  class TextDecoder {
    constructor(label = 'utf-8') {
      this.encoding = label.toLowerCase()
    }

    decode(input) {
      if (input === undefined) return ''
      const bytes = ArrayBuffer.isView(input)
        ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
        : new Uint8Array(input)
      return this.encoding.startsWith('utf-16') ? decodeUtf16(bytes) : decodeUtf8(bytes)
    }
  }

  // String.fromCharCode is called with a few thousand units at a time: arguments live on the stack.
  const CHUNK = 8000

  function decodeUtf16(bytes) {
    let text = ''
    let units = []
    for (let i = 0; i + 1 < bytes.length; i += 2) {
      units.push(bytes[i] | (bytes[i + 1] << 8))
      if (units.length >= CHUNK) {
        text += String.fromCharCode(...units)
        units = []
      }
    }
    return text + String.fromCharCode(...units)
  }

  function decodeUtf8(bytes) {
    let text = ''
    let units = []
    for (let i = 0; i < bytes.length;) {
      const first = bytes[i++]
      let code = first
      if (first >= 0xf0) {
        code = ((first & 7) << 18) | ((bytes[i++] & 63) << 12) | ((bytes[i++] & 63) << 6) | (bytes[i++] & 63)
      } else if (first >= 0xe0) {
        code = ((first & 15) << 12) | ((bytes[i++] & 63) << 6) | (bytes[i++] & 63)
      } else if (first >= 0x80) {
        code = ((first & 31) << 6) | (bytes[i++] & 63)
      }
      if (code > 0xffff) {
        code -= 0x10000
        units.push(0xd800 | (code >> 10), 0xdc00 | (code & 0x3ff))
      } else {
        units.push(code)
      }
      if (units.length >= CHUNK) {
        text += String.fromCharCode(...units)
        units = []
      }
    }
    return text + String.fromCharCode(...units)
  }

  class TextEncoder {
    encode(input = '') {
      const bytes = []
      for (const character of input) {
        const code = character.codePointAt(0)
        if (code < 0x80) bytes.push(code)
        else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63))
        else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63))
        else {
          bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63))
        }
      }
      return new Uint8Array(bytes)
    }

    encodeInto(text, target) {
      const bytes = this.encode(text)
      target.set(bytes)
      return { read: text.length, written: bytes.length }
    }
  }

  // ChaCha20 (RFC 8439, section 2.3) as a random generator: os.urandom and secrets in the sandbox come from here.
  const state = new Uint32Array(16)
  const block = new Uint32Array(16)
  const blockBytes = new Uint8Array(block.buffer)
  let used = 64
  state.set([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574])

  function quarter(a, b, c, d) {
    let x
    block[a] += block[b]
    x = block[d] ^ block[a]
    block[d] = (x << 16) | (x >>> 16)
    block[c] += block[d]
    x = block[b] ^ block[c]
    block[b] = (x << 12) | (x >>> 20)
    block[a] += block[b]
    x = block[d] ^ block[a]
    block[d] = (x << 8) | (x >>> 24)
    block[c] += block[d]
    x = block[b] ^ block[c]
    block[b] = (x << 7) | (x >>> 25)
  }

  function nextBlock() {
    block.set(state)
    for (let round = 0; round < 10; round++) {
      quarter(0, 4, 8, 12)
      quarter(1, 5, 9, 13)
      quarter(2, 6, 10, 14)
      quarter(3, 7, 11, 15)
      quarter(0, 5, 10, 15)
      quarter(1, 6, 11, 12)
      quarter(2, 7, 8, 13)
      quarter(3, 4, 9, 14)
    }
    for (let i = 0; i < 16; i++) block[i] += state[i]
    if (++state[12] === 0) state[13]++
    used = 0
  }

  const crypto = {
    getRandomValues(view) {
      const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
      for (let i = 0; i < bytes.length; i++) {
        if (used === 64) nextBlock()
        bytes[i] = blockBytes[used++]
      }
      return view
    },
  }

  const startedMs = Date.now()
  const nothing = () => {}
  const unavailable = () => {
    throw new Error('not available in the sandbox')
  }
  const globals = {
    TextDecoder,
    TextEncoder,
    crypto,
    performance: { now: () => Date.now() - startedMs, timeOrigin: startedMs },
    console: { log: nothing, warn: nothing, error: nothing, info: nothing, debug: nothing },
    // Nothing returns to an event loop once Python runs, so a timer could never fire.
    setTimeout: () => 0,
    clearTimeout: nothing,
    setInterval: () => 0,
    clearInterval: nothing,
    AbortController: class AbortController {
      signal = { aborted: false, addEventListener: nothing, removeEventListener: nothing }
      abort() {}
    },
    URL: class URL {
      constructor(href) {
        this.href = String(href)
        this.pathname = this.href
      }
      toString() {
        return this.href
      }
    },
    // Both make Pyodide's loader believe in a bare JavaScript shell.
    read: unavailable,
    load: unavailable,
    /** Called once by the process around the context: 32 bytes of key. */
    __sandbridgeSeed(key) {
      state.set(new Uint32Array(key.buffer, 0, 8), 4)
    },
  }
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })
  }

  // Node formats stack traces in its own realm and calls Error.prepareStackTrace from there: no code may set it.
  Object.defineProperty(Error, 'prepareStackTrace', { value: undefined, writable: false, configurable: false })
  Object.defineProperty(globalThis, 'Error', { value: Error, writable: false, configurable: false })
  // Streaming compilation calls back into Node with the object it is given.
  delete WebAssembly.compileStreaming
  delete WebAssembly.instantiateStreaming
})()
