import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NodeProcess } from '../test/daemon/node-process.ts'
import { startPostgres } from '../test/postgres/server.ts'
import { Haproxy, hasHaproxy } from './proxy/haproxy.ts'
import { TRIALS } from './proxy/trials.ts'

/**
 * `npm run faults -- proxy`: three servers on one PostgreSQL behind a real HAProxy with the configuration in `deploy`. Streams
 * and commands pass while a node drains and another one is killed.
 */
const print = (text: string) => process.stdout.write(`${text}\n`)
/** Longer than the proxy needs to notice that a node stops. */
const DRAIN_MS = 10_000

if (!hasHaproxy()) {
  print('skipped: HAProxy is not installed')
  process.exit()
}
const home = realpathSync(mkdtempSync(join(tmpdir(), 'proxy-')))
let failed = 0
{
  await using database = await startPostgres()
  const start = (name: string) => NodeProcess.start(name, home, database.url, { drainMs: DRAIN_MS })
  const nodes = await Promise.all(['n1', 'n2', 'n3'].map(start))
  await using proxy = await Haproxy.start(
    home,
    nodes.map(({ url }) => url),
  )
  for (const [name, trial] of Object.entries(TRIALS)) {
    const problem = await trial({ url: proxy.url, nodes }).then(
      () => undefined,
      (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown)),
    )
    if (problem !== undefined) failed++
    print(
      `${problem === undefined ? 'ok    ' : 'FAILED'} ${name}${problem === undefined ? '' : `\n  ${problem}`}`,
    )
  }
  await Promise.all(nodes.map((node) => node.kill()))
}
rmSync(home, { recursive: true, force: true, maxRetries: 5 })
print(`trials ${Object.keys(TRIALS).length} failed ${failed}`)
process.exitCode = failed === 0 ? 0 : 1
