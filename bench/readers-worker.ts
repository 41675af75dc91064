import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../src/daemon/config.ts'
import { serve } from '../src/daemon/serve.ts'

/** A server for many and for slow readers, in a separate process. Prints its address. */
const [data = '', stream = ''] = process.argv.slice(2)
const config = await loadConfig({
  flags: { port: 0, auth: false, data, cwd: tmpdir() },
  environment: {},
  cwd: data,
})
const command = [process.execPath, join(import.meta.dirname, 'gateway-agent.mjs')]
const server = await serve({
  config: {
    ...config,
    agents: { claude: { command, env: { BENCH_STREAM: stream, BENCH_RATE: process.env.BENCH_RATE ?? '' } } },
    timeouts: { ...config.timeouts, stallMs: 5_000 },
    limits: { ...config.limits, streams: 2_000, connections: 2_000 },
  },
  report: console.error,
})
process.on('SIGTERM', () => void server.stop())
process.stdout.write(`${server.url}\n`)
