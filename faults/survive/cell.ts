import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Program } from '../../conformance/programs.ts'
import { CELL_MARKER, processesOf } from '../../conformance/traces.ts'
import { MainstemClient } from '../../src/client/index.ts'
import type { Entry, LaunchKind, SessionRecord } from '../../src/model/index.ts'
import { codeOf } from '../../src/model/outcome/mainstem-error.ts'
import { type ScriptedModel, scriptedModel } from '../../src/testing/index.ts'
import { Host } from '../crash/host.ts'
import { ndjson, polling, socket, sse } from '../crash/protocols.ts'
import { Reader } from '../crash/reader.ts'
import { offlineCell } from '../offline-cell.ts'
import type { Ending, Moment } from './plan.ts'
import { PROMPT, problemsOf, textOf } from './problems.ts'
import { RESULTS, SCRIPTS, scriptText } from './scripts.ts'

export interface CellSetup {
  readonly program: Program
  readonly moment: Moment
  readonly ending: Ending
  readonly launch: LaunchKind
  /** From the response to the prompt to the moment `start`. */
  readonly delayMs: number
  readonly command: string
  readonly folder: string
}

const END_MS = 90_000
const LOOK_MS = 50
/** The server goes away when this much of the text is in the log. */
const SOME_TEXT = 60

/** Plays one cell; returns what did not hold. */
export async function playCell(setup: CellSetup): Promise<string[]> {
  const data = join(setup.folder, 'data')
  await mkdir(data, { recursive: true })
  await using model = await scriptedModel({ scenarios: SCRIPTS })
  const { cwd, env } = await offlineCell(setup.program, setup.folder, model)
  const marked = { ...env, [CELL_MARKER]: setup.folder }
  const agents = { [setup.program.agent]: { command: [setup.command], env: marked } }
  const host = await Host.create(data, { program: 'serve', drainMs: 50, cwd, config: { agents } })
  await host.start()
  const cell = new Cell(setup, host, cwd, model)
  try {
    return await cell.play()
  } catch (thrown) {
    return [thrown instanceof Error ? thrown.message : String(thrown)]
  } finally {
    await writeFile(
      join(setup.folder, 'entries.jsonl'),
      cell.log.map((entry) => `${JSON.stringify(entry)}\n`),
    )
    host.signal('SIGTERM')
    await host.exited()
    killAll(setup.folder)
  }
}

class Cell {
  log: readonly Entry[] = []
  readonly #setup: CellSetup
  readonly #host: Host
  readonly #cwd: string
  readonly #model: ScriptedModel
  readonly #headers: { authorization: string }
  #id = ''

  constructor(setup: CellSetup, host: Host, cwd: string, model: ScriptedModel) {
    this.#setup = setup
    this.#host = host
    this.#cwd = cwd
    this.#model = model
    this.#headers = [...host.principals.values()][0] ?? { authorization: '' }
  }

  async play(): Promise<string[]> {
    const { moment, ending } = this.#setup
    const readers = await this.#begin()
    if (moment === 'start') await sleep(this.#setup.delayMs)
    else await this.#until('the moment', () => this.#isThere())
    const before = this.#agentProcesses()
    await this.#replace()
    const after = this.#agentProcesses()
    await this.#until('the end of the turn', () => this.#isOver())
    const atEnd = this.#agentProcesses()
    const client = await this.#client()
    await client.end(this.#id)
    this.log = await this.#entries(client)
    await this.#until('the last entry at every reader', async () =>
      readers.every(({ shown }) => shown.has(String(this.log.length))),
    )
    await this.#until('the end of all processes', async () => processesOf(this.#setup.folder).length === 0)
    return problemsOf({
      ending,
      entries: this.log,
      processes: [before, after, atEnd],
      readers,
      text: scriptText(moment),
      asked: this.#model.requests.map(({ body }) => JSON.stringify(body)),
      file: { wanted: RESULTS[moment], found: this.#result() },
    })
  }

  /** Starts the session and its prompt, and a reader of each transport. */
  async #begin(): Promise<Reader[]> {
    const { program, moment, ending } = this.#setup
    const client = await this.#client()
    const { id } = await client.begin({
      agent: program.agent,
      launch: this.#setup.launch,
      cwd: this.#cwd,
      policy:
        moment === 'permission'
          ? { approval: 'ask', sandbox: 'none' }
          : { approval: 'auto-all', sandbox: 'full-access' },
      options: ending === 'reboot' ? { onLost: 'continue' } : {},
      prompt: `SCENARIO:${moment} CWD:${this.#cwd} ${PROMPT}`,
    })
    this.#id = id
    return [sse, ndjson, polling, socket].map(
      (protocol) =>
        new Reader(this.#host, { name: protocol.name, headers: this.#headers, protocol: protocol(id) }),
    )
  }

  async #isThere(): Promise<boolean> {
    const { moment } = this.#setup
    if (moment === 'tool') return existsSync(join(this.#cwd, 'running'))
    if (moment === 'permission') return (await this.#record()).requests.length === 1
    return textOf(await this.#entries()).length > SOME_TEXT
  }

  /** The tool ends while no server runs. */
  async #replace(): Promise<void> {
    const { moment, ending, folder } = this.#setup
    const meanwhile = async () => {
      if (ending === 'reboot') killAll(folder)
      if (moment !== 'tool') return
      await writeFile(join(this.#cwd, 'go'), '')
      if (ending !== 'reboot')
        await this.#until('the result of the tool', async () => this.#result() !== undefined)
    }
    if (ending === 'restart') return this.#host.restart(meanwhile)
    this.#host.signal('SIGKILL')
    await this.#host.exited()
    await meanwhile()
    await this.#host.start()
  }

  /** Answers what the agent asks. The turn of an agent that was killed is followed by another one. */
  async #isOver(): Promise<boolean> {
    const { ending } = this.#setup
    const ends = (await this.#entries()).filter(({ event }) => event.type === 'turn.completed')
    // Until its turn has ended, the record shows a request of the agent that was killed.
    if (ending === 'reboot' && ends.length === 0) return false
    const client = await this.#client()
    for (const { requestId, inputDigest } of (await this.#record()).requests)
      await client.answer(this.#id, requestId, { decision: 'allow', inputDigest })
    return ends.length === (ending === 'reboot' ? 2 : 1)
  }

  /** The processes that a launcher of this cell started, by pid. */
  #agentProcesses(): number[] {
    const all = processesOf(this.#setup.folder)
    const launchers = all.filter(({ command }) => command.includes('mainstem-agent')).map(({ pid }) => pid)
    return all.filter(({ parent }) => launchers.includes(parent)).map(({ pid }) => pid)
  }

  #result(): string | undefined {
    const path = join(this.#cwd, 'result.txt')
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined
  }

  async #client(): Promise<MainstemClient> {
    const token = this.#headers.authorization.replace('Bearer ', '')
    return new MainstemClient({ baseUrl: await this.#host.url, token })
  }

  async #record(): Promise<SessionRecord> {
    return (await this.#client()).session(this.#id)
  }

  async #entries(client?: MainstemClient): Promise<readonly Entry[]> {
    const { entries = [] } = await (client ?? (await this.#client())).page(this.#id, { limit: 1000 })
    return entries
  }

  async #until(what: string, holds: () => Promise<boolean>): Promise<void> {
    for (const end = Date.now() + END_MS; !(await holds()); await sleep(LOOK_MS)) {
      if (Date.now() <= end) continue
      this.log = await this.#entries()
      throw new Error(`${what} did not come in ${END_MS / 1000} s`)
    }
  }
}

/** Kills every process of a cell. One may end by itself meanwhile. */
function killAll(folder: string): void {
  for (const { pid } of processesOf(folder)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (thrown) {
      if (codeOf(thrown) !== 'ESRCH') throw thrown
    }
  }
}
