import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { MainstemClient } from '../src/client/mainstem-client.ts'
import { newToken } from '../src/daemon/token.ts'
import { tokenOf } from '../src/gateway/http/auth.ts'
import { Attacker } from './attack/attacker.ts'
import { ATTACKS, type Target } from './attack/attacks.ts'
import { IdleServer } from './attack/idle-server.ts'
import { measure, ms, type Times } from './attack/neighbour.ts'
import { SmallServer } from './memory/small-server.ts'

/**
 * `npm run faults -- attack [--seconds 10] [attack …]`: one token attacks a real server from a process of its own. Prints how
 * long another principal waits for `GET /v1/sessions`: alone, while the same attack goes to a server that does nothing,
 * and during each attack; and the peak memory of the server. `--nice` gives the attack the
 * lowest priority, and `--cpu-prof DIR` writes profiles of the server. A refused or failed request of the other principal,
 * and an exit of the server, are failures.
 */
const { values, positionals } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    nice: { type: 'boolean', default: false },
    'cpu-prof': { type: 'string' },
  },
  allowPositionals: true,
})
const seconds = Number(values.seconds)
const chosen = Object.keys(ATTACKS).filter((name) => positionals.length === 0 || positionals.includes(name))
const AGENT = join(import.meta.dirname, '../test/cli/terminal/asking-agent.mjs')
/** Fewer than by default, so that a small machine has room for them. */
const PROCESSES = 16
const LARGE = 12 * 1024 * 1024
const profile = values['cpu-prof'] === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values['cpu-prof']}`]
const print = (text: string) => process.stdout.write(`${text}\n`)

/** Adds a token for a principal. */
async function principal(url: string, operator: MainstemClient, name: string) {
  const token = newToken()
  await operator.addToken({ name, digest: tokenOf(name, token).digest })
  return { token, client: new MainstemClient({ baseUrl: url, token }) }
}

/** A session with a large entry, and many sessions with words to search. */
async function prepare(client: MainstemClient): Promise<Pick<Target, 'session' | 'small'>> {
  const { id: small } = await client.begin({ agent: 'echo', prompt: 'hi' })
  const { id } = await client.begin({ agent: 'echo', prompt: 'x'.repeat(LARGE) })
  for (let count = 0; count < 100; count++)
    await client.begin({ agent: 'echo', prompt: 'some words that are in every session '.repeat(100) })
  for await (const { event } of client.entries(id)) if (event.type === 'turn.completed') break
  return { session: id, small }
}

/** Measures from the first moment of an attack. */
async function during(
  name: string,
  target: Target,
  waits: () => Promise<Times>,
): Promise<Times & { sent: number }> {
  await using attacker = await Attacker.start(name, target, values.nice)
  attacker.attack()
  const times = await waits()
  if (attacker.sent === 0) throw new Error(`the attack ${name} did nothing`)
  return { ...times, sent: attacker.sent }
}

const isBad = ({ failures }: Times) => failures.length > 0

async function main(home: string): Promise<void> {
  const agents = { claude: { command: [process.execPath, AGENT] } }
  await using server = await SmallServer.start(
    home,
    1024,
    { agents, limits: { processes: PROCESSES } },
    profile,
  )
  const { url } = server
  const first = readFileSync(join(home, 'token'), 'utf8').trim()
  const operator = new MainstemClient({ baseUrl: url, token: first })
  const mallory = await principal(url, operator, 'mallory')
  const ann = await principal(url, operator, 'ann')
  for (let count = 0; count < 20; count++) await ann.client.begin({ agent: 'echo', prompt: 'hi' })
  const sessions = await prepare(mallory.client)
  await measure(url, ann.token, 1)
  await using idle = await IdleServer.start()
  print(
    'attack                 p50 alone   p50   p99 alone  elsewhere   p99  ratio  peak MB  refused     sent',
  )
  for (const name of chosen) {
    const target = { url, token: mallory.token, ...sessions }
    const waits = () => measure(url, ann.token, seconds)
    server.resetPeak()
    const alone = await waits()
    const elsewhere = await during(name, { ...target, url: idle.url }, waits)
    const attacked = await during(name, target, waits)
    const ratio = (attacked.p99 / alone.p99).toFixed(1)
    const times = [alone.p50, attacked.p50, alone.p99, elsewhere.p99, attacked.p99].map(ms)
    const columns = [...times, ratio, server.peakMb, attacked.failures.length, attacked.sent]
    print(`${name.padEnd(22)}${columns.map((column) => String(column).padStart(9)).join('')}`)
    if (isBad(alone) || isBad(attacked)) process.exitCode = 1
    for (const failure of new Set([...alone.failures, ...attacked.failures])) print(`  ${failure}`)
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
