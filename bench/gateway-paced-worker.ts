import { createHash } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { type Agent, type Codec, recipe } from '../src/agents/agent.ts'
import { echo } from '../src/agents/echo/agent.ts'
import { emit, line, nothing, send } from '../src/agents/kit/decoded.ts'
import { wire } from '../src/compose/wire.ts'
import { sqliteStore } from '../src/stores/sqlite.ts'
import type { Store } from '../src/stores/store.ts'

/** Many sessions that each emit something now and then: how long the log takes, and how long the event loop waits. */
const [directory = ''] = process.argv.slice(2)
const SESSIONS = 500
const EACH = 260
const PAUSE_MS = 50
/** They come one after another, as people do. Measured is from when the last is there until the first is done. */
const BETWEEN_MS = 5
const TEXT = 'All work and no play makes Jack a dull boy. '.repeat(5)
const acks: number[] = []
let events = 0

const codec: Codec<undefined> = {
  initial: () => undefined,
  decode: (_, { value }) =>
    value === 'end'
      ? emit({ type: 'turn.verdict', evidence: 'success', denials: 0, personDenials: 0 })
      : emit({ type: 'text.delta', messageId: 'm', text: String(value) }),
  encode: (_, command) => (command.type === 'prompt' ? send([line(command.text), { kind: 'end' }]) : nothing),
  end: () => nothing,
}

const ticker: Agent = { id: 'ticker', name: 'Ticker', launches: { live: launch() } }

function launch() {
  if (!echo.launches.live) throw new Error('echo has a live launch')
  const { capabilities } = echo.launches.live
  const line = JSON.stringify(TEXT)
  const reply = () => {
    const start = performance.now()
    const beats = Array.from({ length: EACH }, (_, index) => ({
      // By the clock: an agent does not speak more slowly because its log is slow.
      get afterMs() {
        return Math.max(0, start + (index + 1) * PAUSE_MS - performance.now())
      },
      line,
    }))
    return [...beats, { afterMs: 0, line: '"end"' }]
  }
  return recipe({ capabilities, codec, launch: () => ({ kind: 'builtin', reply }) })
}

function timed(store: Store): Store {
  const append: Store['append'] = async (...batch) => {
    const start = performance.now()
    await store.append(...batch)
    acks.push(performance.now() - start)
    events += batch[1].entries.length
  }
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = name === 'append' ? append : Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const store = timed(await sqliteStore({ directory }))
await using wired = wire({ store, agents: [ticker], maxProcesses: SESSIONS })
const sessions = await Promise.all(
  Array.from({ length: SESSIONS }, () => wired.sessions.create({ agent: 'ticker', cwd: '/' })),
)
const settled: Promise<unknown>[] = []
await Promise.all(
  sessions.map(async (session, index) => {
    await setTimeout(index * BETWEEN_MS)
    const turn = await session.prompt(createHash('sha1').update(session.id).digest('hex'))
    settled.push(session.settled(turn))
  }),
)
const loop = monitorEventLoopDelay({ resolution: 1 })
loop.enable()
acks.length = 0
events = 0
const cpu = process.cpuUsage()
const start = performance.now()
await Promise.race(settled)
const seconds = (performance.now() - start) / 1000
const { user, system } = process.cpuUsage(cpu)
acks.sort((a, b) => a - b)
const at = (part: number) => acks[Math.floor(acks.length * part)] ?? 0
process.stdout.write(
  JSON.stringify({
    events,
    seconds,
    cpuMicros: user + system,
    ack: [at(0.5), at(0.99)],
    loop: [loop.percentile(50) / 1e6, loop.percentile(99) / 1e6],
  }),
)
await Promise.all(settled)
