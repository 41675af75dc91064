import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Program } from '../../conformance/programs.ts'
import { type AgentSession, type Entry, type Mainstem, mainstem } from '../../src/index.ts'
import { type Scenario, type ScriptedModel, scriptedModel } from '../../src/testing/index.ts'
import { offlineCell } from '../offline-cell.ts'
import { pick, type Random, randomFrom } from '../random.ts'
import { type LaunchKind, problemsOf, type Trial } from './plan.ts'

export interface CellSetup {
  readonly program: Program
  readonly launch: LaunchKind
  readonly command: string
  readonly folder: string
  readonly seed: number
  readonly count: number
}

const LATEST_MS = 3_000
/** After this long, a turn that was interrupted counts as hanging. */
const END_MS = 20_000
/** After this long, the prompt after it counts as hanging. */
const NEXT_MS = 60_000
const WARM_MS = 8_000
const LOOK_MS = 50
/** The first interrupt of a session hits a process that starts or is ready, the others one that has worked. */
const TRIALS_PER_SESSION = 2

const WORDS = Array.from({ length: 60 }, (_, n) => `word-${n} `).join('')

/** Each takes longer than the latest interrupt, so that no turn ends by itself. */
const SCRIPTS: Readonly<Record<string, Scenario>> = {
  // Words that differ: Gemini stops a model that repeats its text.
  'slow-text': { replies: [{ text: WORDS, deltas: 60, paceMs: 150 }] },
  'slow-thinking': { replies: [{ thinking: 'thought '.repeat(60), text: 'Done.', deltas: 60, paceMs: 150 }] },
  'slow-tool': { replies: [{ calls: [{ do: 'shell', command: 'sleep 9' }] }, { text: 'Done.' }] },
  'silent-model': { replies: [{ text: 'Done.', faults: [{ kind: 'stall', after: 0, ms: 9_000 }] }] },
  probe: { replies: [{ text: 'The probe is answered.' }] },
}
const SLOW = Object.keys(SCRIPTS).filter((name) => name !== 'probe')

/** Plays one program in one launch: interrupt, probe, and again. */
export async function playCell({
  program,
  launch,
  command,
  folder,
  seed,
  count,
}: CellSetup): Promise<Trial[]> {
  await using model = await scriptedModel({ scenarios: SCRIPTS })
  const { cwd, env } = await offlineCell(program, folder, model)
  const stem = mainstem({ agents: { [program.agent]: { command: [command], env } } })
  const random = randomFrom(seed)
  const trials: Trial[] = []
  for (let sessions = 0; trials.length < count; sessions++) {
    const left = Math.min(TRIALS_PER_SESSION, count - trials.length)
    const conversation = await Conversation.open(stem, { agent: program.agent, launch, cwd }, model)
    for (let at = 0; at < left; at++) {
      const state = at > 0 ? 'used' : sessions % 2 === 0 ? 'starting' : 'ready'
      if (state === 'ready') await conversation.warm()
      const trial = await conversation.interruptAndProbe(random, trials.length, state)
      trials.push(trial)
      if (trial.problems.length > 0)
        await conversation.keepLog(join(folder, `trial-${trials.length - 1}.jsonl`))
      if (trial.outcome === undefined || trial.next === undefined) break
    }
    await conversation.close()
  }
  await stem[Symbol.asyncDispose]()
  return trials
}

/** One session, and the prompts that its agent must have in its context. */
class Conversation {
  readonly #session: AgentSession
  readonly #model: ScriptedModel
  readonly #log: Entry[] = []
  readonly #reading: Promise<void>
  /** Names of the prompts so far. */
  #names: string[] = []

  private constructor(session: AgentSession, model: ScriptedModel) {
    this.#session = session
    this.#model = model
    this.#reading = this.#read()
  }

  static async open(
    stem: Mainstem,
    { agent, launch, cwd }: { agent: string; launch: LaunchKind; cwd: string },
    model: ScriptedModel,
  ) {
    const policy = { approval: 'auto-all', sandbox: 'full-access' } as const
    return new Conversation(await stem.session({ agent, launch, cwd, policy }), model)
  }

  /** Starts the process of a live launch and waits until its session is open. */
  async warm(): Promise<void> {
    await this.#session.warm()
    const isOpen = () =>
      this.#log.some(({ event }) => event.type === 'session.updated' && event.nativeSessionId !== undefined)
    for (let waited = 0; waited < WARM_MS && !isOpen(); waited += LOOK_MS) await setTimeout(LOOK_MS)
  }

  async interruptAndProbe(random: Random, index: number, state: Trial['process']): Promise<Trial> {
    const script = pick(random, SLOW)
    const atMs = Math.round(random() * LATEST_MS)
    const [name, probe] = [`prompt-${index}-x`, `probe-${index}-x`]
    const [entriesBefore, requestsBefore] = [this.#log.length, this.#model.requests.length]
    const turn = this.#session.prompt(line(script, name))
    const ended = turn.result()
    await Promise.race([setTimeout(atMs), ended])
    const interruptedAt = performance.now()
    const interrupted = this.#session.interrupt()
    const result = await within(END_MS, ended)
    const endedAfterMs = Math.round(performance.now() - interruptedAt)
    if (result) await within(END_MS, interrupted)
    const reachedModel = this.#asked(requestsBefore).includes(name)
    const asked = this.#model.requests.length
    const next = result && (await within(NEXT_MS, this.#session.prompt(line('probe', probe)).result()))
    const context = this.#contextOf(asked, probe)
    const missing = [...this.#names, name].filter((one) => !context.includes(one))
    // Only what is in the context now can be expected later.
    this.#names = [...this.#names, name, probe].filter((one) => context.includes(one))
    const reported = this.#log
      .slice(entriesBefore)
      .some(({ event }) => event.type === 'notice.raised' && event.code === 'context_lost')
    const trial = {
      atMs,
      script,
      process: state,
      ...(result && { outcome: result.outcome, endedAfterMs }),
      ...(next && { next: next.outcome }),
      ...(next?.error && { nextError: next.error.message }),
      reachedModel,
      missing,
      reported,
    }
    return { ...trial, problems: problemsOf(trial) }
  }

  async close(): Promise<void> {
    await this.#session[Symbol.asyncDispose]()
    await this.#reading
  }

  async keepLog(path: string): Promise<void> {
    await writeFile(path, this.#log.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
  }

  #asked(from: number): string {
    return JSON.stringify(this.#model.requests.slice(from).map(({ body }) => body))
  }

  /** What the model was sent with the probe. */
  #contextOf(from: number, probe: string): string {
    const asked = this.#model.requests.slice(from).filter(({ place }) => place?.scenario === 'probe')
    const bodies = asked.map(({ body }) => JSON.stringify(body)).filter((body) => body.includes(probe))
    return bodies.at(-1) ?? ''
  }

  async #read(): Promise<void> {
    for await (const entry of this.#session.entries()) this.#log.push(entry)
  }
}

function line(script: string, name: string): string {
  return `SCENARIO:${script} This is ${name}. Please do what the script says.`
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  return Promise.race([promise, setTimeout(ms, undefined)])
}
