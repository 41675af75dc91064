import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sqliteStore } from '../src/stores/sqlite.ts'
import { pollAroundPrompts } from '../test/gateway/board/board-polls.ts'
import { startGateway } from '../test/gateway/start.ts'

/** `npm run faults -- polls [--rounds 50] [--sessions 20]`: polls board events around new prompts; prints every answer but 200. */
const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '50' }, sessions: { type: 'string', default: '20' } },
})

const directory = mkdtempSync(join(tmpdir(), 'mainstem-polls-'))
const store = await sqliteStore({ directory })
const server = await startGateway({ store })
let polls = 0
const wrong: string[] = []
for (let session = 0; session < Number(values.sessions); session++) {
  const polled = await pollAroundPrompts(server, Number(values.rounds))
  polls += polled.polls
  wrong.push(...polled.wrong)
}
await server[Symbol.asyncDispose]()
await store[Symbol.asyncDispose]()
rmSync(directory, { recursive: true })
process.stdout.write(`${[...wrong, `${polls} polls, ${wrong.length} not answered with a page`].join('\n')}\n`)
process.exitCode = wrong.length === 0 ? 0 : 1
