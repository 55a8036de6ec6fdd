// Stops code that blocks the main thread. The kernel reaches this worker thread while the main thread is busy; the
// worker makes V8 terminate the running code, wherever it is. Variables are kept.
import { Worker } from 'node:worker_threads'

const PROGRAM = `
const { Session } = require('node:inspector')
const net = require('node:net')
const { parentPort, workerData } = require('node:worker_threads')
const session = new Session()
session.connectToMainThread()
new net.Socket({ fd: Number(workerData) }).on('data', () => {
  session.post('Runtime.terminateExecution', () => {})
}).on('error', () => {})
parentPort.postMessage(0)
`

/**
 * Resolves when it can stop code: a first cell may be interrupted before this thread has had a processor.
 * @param fd terminates the running code at each byte received
 */
export function startBreaker(fd: number): Promise<unknown> {
  const worker = new Worker(PROGRAM, { eval: true, workerData: fd, stderr: true })
  worker.unref()
  // Node may lack an inspector. The kernel then ends the whole process.
  return new Promise((resolve) => worker.once('message', resolve).on('error', resolve))
}
