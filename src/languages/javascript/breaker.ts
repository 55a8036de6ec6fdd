// Ends code that does not come back: a thread of its own, which the kernel reaches when this one is busy. It asks V8 to end what runs now, wherever that is;
// variables stay.
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

/** @param fd each byte that comes there ends what runs */
export function startBreaker(fd: number): void {
  const worker = new Worker(PROGRAM, { eval: true, workerData: fd, stderr: true })
  // A Node without an inspector: the kernel ends the whole process then.
  worker.on('error', () => {})
  worker.unref()
}
