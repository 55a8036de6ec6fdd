// The command that the conformance suite starts as a client: it hands the scenario over to the test, in which the
// client runs, and ends when that has ended. A start of the client itself would take a second for each scenario.
import { request } from 'node:http'

const { MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = '{}', CLIENT_URL } = process.env
const run = { url: process.argv.at(-1), scenario, context: JSON.parse(context) }
request(CLIENT_URL, { method: 'POST' }, (answer) => answer.resume()).end(JSON.stringify(run))
