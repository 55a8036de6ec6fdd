// The positive control: Pyodide started in Node as in its own documentation. Reads one JSON object {code} per line and
// writes {output} per line.
import { createInterface } from 'node:readline'
import { loadPyodide } from 'pyodide'

let output = ''
const keep = (text) => {
  output += `${text}\n`
}
const pyodide = await loadPyodide({ stdout: keep, stderr: keep })
for await (const line of createInterface({ input: process.stdin })) {
  output = ''
  try {
    await pyodide.runPythonAsync(JSON.parse(line).code)
  } catch (error) {
    keep(String(error))
  }
  process.stdout.write(`${JSON.stringify({ output })}\n`)
}
