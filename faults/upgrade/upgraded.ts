import { setTimeout as sleep } from 'node:timers/promises'
import { MainstemClient } from '../../src/client/index.ts'
import type { Entry } from '../../src/model/index.ts'
import type { Host } from '../crash/host.ts'

/** One of each protocol whose agents outlive their server and ask. */
const AGENTS = ['claude', 'codex', 'gemini', 'acp']
/** What a fake agent says for `say`. */
const PIECES = 12
const END_MS = 30_000
const LOOK_MS = 50

/** Sessions that begin on one version of the server and end on another. */
export class Upgraded {
  readonly #host: Host
  readonly #ids = new Map<string, string>()
  /** The processes of agents before the upgrade. */
  #processes: readonly string[] = []

  constructor(host: Host) {
    this.#host = host
  }

  /** Settles when each agent has said something and waits for an answer. */
  async begin(): Promise<void> {
    const client = await this.#client()
    for (const agent of AGENTS) {
      const { id } = await client.begin({
        agent,
        launch: 'live',
        policy: { approval: 'ask', sandbox: 'none' },
        prompt: `${agent} say ask say`,
      })
      this.#ids.set(agent, id)
    }
    for (const id of this.#ids.values())
      await until(async () => (await client.session(id)).requests.length === 1)
    this.#processes = this.#host.agentProcesses()
  }

  /** Answers what was asked before. A row for each agent, with its outcome and what did not hold. */
  async finish(): Promise<string[][]> {
    const client = await this.#client()
    const after = this.#host.agentProcesses()
    const same = this.#processes.every((process) => after.includes(process))
    const rows: string[][] = []
    for (const [agent, id] of this.#ids) {
      const { requests } = await client.session(id)
      for (const { requestId, inputDigest } of requests)
        await client.answer(id, requestId, { decision: 'allow', inputDigest })
      let entries: readonly Entry[] = []
      await until(async () => {
        entries = (await client.page(id, { limit: 1000 })).entries ?? []
        return entries.some(({ event }) => event.type === 'turn.completed')
      })
      const problems = [...(same ? [] : ['a process ended']), ...problemsOf(agent, entries)]
      rows.push([agent, outcomeOf(entries), problems.join('; ') || '-'])
    }
    return rows
  }

  async #client(): Promise<MainstemClient> {
    const [headers = { authorization: '' }] = this.#host.principals.values()
    const token = headers.authorization.replace('Bearer ', '')
    return new MainstemClient({ baseUrl: await this.#host.url, token })
  }
}

function problemsOf(agent: string, entries: readonly Entry[]): string[] {
  const said = entries.flatMap(({ event }) => (event.type === 'text.delta' ? event.text : [])).join('')
  const wanted = Array.from({ length: 2 * PIECES }, (_, index) => `${agent}.${index} `).join('')
  const notices = entries.filter(({ event }) => event.type === 'notice.raised' && event.code === 'reattached')
  return [
    ...(outcomeOf(entries) === 'completed' ? [] : [`the turn is ${outcomeOf(entries)}`]),
    ...(said === wanted ? [] : [`the text is ${JSON.stringify(said)}`]),
    ...(notices.length === 1 ? [] : [`${notices.length} notices`]),
    ...(entries.every(({ seq }, index) => seq === index + 1) ? [] : ['the log has a gap']),
  ]
}

function outcomeOf(entries: readonly Entry[]): string {
  return entries.flatMap(({ event }) => (event.type === 'turn.completed' ? event.outcome : [])).join()
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + END_MS; !(await holds()); await sleep(LOOK_MS)) {
    if (Date.now() > end) throw new Error('an agent did not come so far in time')
  }
}
