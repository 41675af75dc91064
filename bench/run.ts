import { core } from './core.ts'
import { library } from './library.ts'

/** `npm run bench -- core|library [agent …]`: ratios in one run beside a baseline; absolute times mean nothing here. */
const BENCHES: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = { core, library }

const [name = '', ...args] = process.argv.slice(2)
const bench = BENCHES[name]
if (bench) await bench(args)
else {
  process.stderr.write(`usage: npm run bench -- ${Object.keys(BENCHES).join(' | ')} [arguments]\n`)
  process.exitCode = 2
}
