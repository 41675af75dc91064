import { parseArgs } from 'node:util'
import { resumes } from './resumes/resumes.ts'

/**
 * `npm run faults -- resumes [--count 100] [--seed N] [transport …]`: resumes sessions of a real server over each transport,
 * through a proxy that cuts connections at random bytes. Prints every resume whose log is not whole.
 */
const { values, positionals } = parseArgs({
  options: { count: { type: 'string', default: '100' }, seed: { type: 'string' } },
  allowPositionals: true,
})
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9))
const print = (text: string) => process.stdout.write(`${text}\n`)
let began = performance.now()
await resumes(
  Number(values.count),
  seed,
  ({ transport, resumes: resumed, messages, connections, cuts, broken }) => {
    for (const line of broken) print(`  ${line}`)
    const seconds = Math.round((performance.now() - began) / 1_000)
    print(
      `${transport}: ${resumed - broken.length} of ${resumed} resumes whole; ${messages} messages, ` +
        `${connections} connections, ${cuts} cut, ${seconds} s`,
    )
    if (broken.length > 0) process.exitCode = 1
    began = performance.now()
  },
  positionals.length > 0 ? positionals : undefined,
)
print(`seed ${seed}`)
