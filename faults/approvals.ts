import { parseArgs } from 'node:util'
import { Home } from '../test/cli/mainstem-process.ts'
import { randomRun } from '../test/cli/terminal/random-approvals.ts'

/**
 * `npm run faults -- approvals [--count 200] [--seed 1] [--at-once 3]`: types at random around the requests of an agent in a
 * real terminal, and judges every approval by what was on the screen before the key.
 */
const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    'at-once': { type: 'string', default: '3' },
  },
})

const counts = { approvals: 0, unintended: 0 }
const seeds = Array.from({ length: Number(values.count) }, (_, index) => Number(values.seed) + index)
const { length: runs } = seeds
await using home = Home.withAskingAgent()

async function worker(): Promise<void> {
  for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
    const { approvals, unintended } = await randomRun(home, seed)
    counts.approvals += approvals.length
    counts.unintended += unintended.length
    for (const { tool, subject } of unintended)
      console.error(`seed ${seed}: no key explains ${tool} ${subject}`)
  }
}

await Promise.all(Array.from({ length: Number(values['at-once']) }, worker))
console.log(`${runs} runs, ${counts.approvals} approvals, ${counts.unintended} unintended`)
process.exitCode = counts.unintended === 0 ? 0 : 1
