// Stops code that blocks the main thread. The kernel reaches this worker thread while the main thread is busy; the
// worker makes V8 terminate the running code, wherever it is. Variables are kept.
import { Worker } from 'node:worker_threads'

const PROGRAM = `
const { Session } = require('node:inspector')
const net = require('node:net')
const session = new Session()
session.connectToMainThread()
new net.Socket({ fd: Number(require('node:worker_threads').workerData) }).on('data', () => {
  session.post('Runtime.terminateExecution', () => {})
}).on('error', () => {})
`

/** @param fd terminates the running code at each byte received */
export function startBreaker(fd: number): void {
  const worker = new Worker(PROGRAM, { eval: true, workerData: fd, stderr: true })
  // Node may lack an inspector. The kernel then ends the whole process.
  worker.on('error', () => {})
  worker.unref()
}
