import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { MainstemClient } from '../src/client/mainstem-client.ts'
import { newToken } from '../src/daemon/token.ts'
import { tokenOf } from '../src/gateway/http/auth.ts'
import { Attacker } from './attack/attacker.ts'
import { ATTACKS } from './attack/attacks.ts'
import { measure, ms, type Times } from './attack/neighbour.ts'
import { SmallServer } from './memory/small-server.ts'

/**
 * `npm run faults -- attack [--seconds 10] [attack …]`: one token attacks a real server from a process of its own. Prints how
 * long another principal waits for `GET /v1/sessions`, alone and during each attack, and the peak memory of the server.
 * A refused or failed request of the other principal, and an exit of the server, are failures.
 */
const { values, positionals } = parseArgs({
  options: { seconds: { type: 'string', default: '10' } },
  allowPositionals: true,
})
const seconds = Number(values.seconds)
const chosen = Object.keys(ATTACKS).filter((name) => positionals.length === 0 || positionals.includes(name))
const AGENT = join(import.meta.dirname, '../test/cli/terminal/asking-agent.mjs')
/** Fewer than by default, so that a small machine has room for them. */
const PROCESSES = 16
const LARGE = 12 * 1024 * 1024
const print = (text: string) => process.stdout.write(`${text}\n`)

/** Adds a token for a principal. */
async function principal(url: string, operator: MainstemClient, name: string) {
  const token = newToken()
  await operator.addToken({ name, digest: tokenOf(name, token).digest })
  return { token, client: new MainstemClient({ baseUrl: url, token }) }
}

/** A session with a large entry, and many sessions with words to search. */
async function prepare(client: MainstemClient): Promise<string> {
  const { id } = await client.begin({ agent: 'echo', prompt: 'x'.repeat(LARGE) })
  for (let count = 0; count < 100; count++)
    await client.begin({ agent: 'echo', prompt: 'some words that are in every session '.repeat(100) })
  for await (const { event } of client.entries(id)) if (event.type === 'turn.completed') break
  return id
}

const isBad = ({ failures }: Times) => failures.length > 0

async function main(home: string): Promise<void> {
  const agents = { claude: { command: [process.execPath, AGENT] } }
  await using server = await SmallServer.start(home, 1024, { agents, limits: { processes: PROCESSES } })
  const { url } = server
  const first = readFileSync(join(home, 'token'), 'utf8').trim()
  const operator = new MainstemClient({ baseUrl: url, token: first })
  const mallory = await principal(url, operator, 'mallory')
  const ann = await principal(url, operator, 'ann')
  for (let count = 0; count < 20; count++) await ann.client.begin({ agent: 'echo', prompt: 'hi' })
  const session = await prepare(mallory.client)
  await measure(url, ann.token, 1)
  print('attack                 p50 alone   p50   p99 alone   p99  ratio  peak MB  refused')
  for (const name of chosen) {
    server.resetPeak()
    const alone = await measure(url, ann.token, seconds)
    await using attacker = await Attacker.start(name, { url, token: mallory.token, session })
    const during = await measure(url, ann.token, seconds)
    const ratio = (during.p99 / alone.p99).toFixed(1)
    const columns = [ms(alone.p50), ms(during.p50), ms(alone.p99), ms(during.p99), ratio, server.peakMb]
    print(
      `${name.padEnd(22)}${columns.map((column) => String(column).padStart(9)).join('')}${String(during.failures.length).padStart(9)}`,
    )
    if (attacker.sent === 0) throw new Error(`the attack ${name} did nothing`)
    if (isBad(alone) || isBad(during)) process.exitCode = 1
    for (const failure of new Set([...alone.failures, ...during.failures])) print(`  ${failure}`)
    if (server.isGone) throw new Error('the server exited')
  }
  print(`attacks ${chosen.length}, exits of the server 0`)
}

const home = mkdtempSync(join(tmpdir(), 'attack-'))
try {
  await main(home)
} finally {
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
}
