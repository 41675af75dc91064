import { core } from './core.ts'
import { gateway } from './gateway.ts'
import { library } from './library.ts'
import { masking } from './masking.ts'
import { peers } from './peers/peers.ts'
import { postgres } from './postgres.ts'
import { readers } from './readers.ts'
import { search } from './search.ts'
import { session } from './session.ts'
import { spool } from './spool.ts'
import { store } from './store.ts'
import { summary } from './summary.ts'
import { types } from './types.ts'

/** `npm run bench -- core|library [agent …]`, `store [word …]`, `postgres [word …]`, `gateway [part …]`, `readers`, `masking [megabytes]`, `search`, `peers [starts|delays] [runs]`, `summary [part …] [checkout …]`, `spool [rounds] [sessions]`: beside a baseline of the same run. */
const BENCHES: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  core,
  library,
  session,
  spool,
  store,
  postgres,
  gateway,
  readers,
  masking,
  search,
  types,
  peers,
  summary,
}

const [name = '', ...args] = process.argv.slice(2)
const bench = BENCHES[name]
if (bench) await bench(args)
else {
  process.stderr.write(`usage: npm run bench -- ${Object.keys(BENCHES).join(' | ')} [arguments]\n`)
  process.exitCode = 2
}
