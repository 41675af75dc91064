import type { Launch, Write } from '../../src/agents/agent.ts'
import type {
  Driver,
  Lasting,
  LastingRuns,
  LeftRun,
  OutputPosition,
  Run,
  RunContext,
  RunExit,
  WriteState,
} from '../../src/drivers/driver.ts'
import { type Frame, type FrameStream, jsonFrame, storedFrame } from '../../src/framing/frame.ts'
import { FakeRun } from './fake-driver.ts'

/** An agent whose output and input outlive the servers that read and write them. */
class LastingAgent extends FakeRun {
  readonly output: Frame[] = []
  /** The reader of the server that runs now. */
  reader: { wake(): void } | undefined

  override sayOn(stream: FrameStream, ...messages: unknown[]): void {
    this.output.push(...messages.map((message) => jsonFrame(stream, JSON.stringify(message))))
    this.reader?.wake()
  }

  override die(exit: RunExit): void {
    super.die(exit)
    this.reader?.wake()
  }
}

/** What one server reads from an agent and writes to it. Nothing after `cut`, as if the server had died. */
class Connection implements Run, Lasting {
  readonly pid = undefined
  readonly lasting = this
  readonly frames: AsyncIterable<readonly Frame[]>
  readonly position: OutputPosition
  readonly #agent: LastingAgent
  readonly #kept: Kept
  #isCut = false
  #wake = Promise.withResolvers<void>()

  constructor(agent: LastingAgent, kept: Kept, from: OutputPosition) {
    this.#agent = agent
    this.#kept = kept
    this.position = { ...from }
    this.frames = this.#read()
    agent.reader = { wake: () => this.#wake.resolve() }
  }

  get exit(): Promise<RunExit> {
    return this.#isCut ? new Promise(() => undefined) : this.#agent.exit
  }

  async write(write: Write): Promise<void> {
    if (this.#isCut) return new Promise(() => undefined)
    const { dies } = this.#kept
    if (!dies) this.#kept.done++
    if (dies !== 'before it arrives') await this.#agent.write(write)
    if (!dies) return
    Object.assign(this.#kept, { doubtful: 1, dies: undefined })
    this.cut()
  }

  async skip(): Promise<void> {
    this.#kept.done++
  }

  async stop(): Promise<void> {
    if (!this.#isCut) await this.#agent.stop()
  }

  async leave(): Promise<void> {
    this.cut()
  }

  release(): void {
    // Memory needs no room back.
  }

  cut(): void {
    this.#isCut = true
    this.#agent.reader = undefined
  }

  async *#read(): AsyncGenerator<readonly Frame[]> {
    for (;;) {
      const { output } = this.#agent
      const batch = this.#isCut ? [] : output.slice(this.position.stdout)
      this.position.stdout += batch.length
      if (batch.length > 0) yield batch
      else if (!this.#agent.isAlive && !this.#isCut) return
      else {
        await this.#wake.promise
        this.#wake = Promise.withResolvers()
      }
    }
  }
}

/** What is known of one run besides the journal. */
interface Kept {
  frame: number
  frames: Map<number, string>
  done: number
  doubtful: number
  /** Its server dies within the next write. */
  dies?: Death | undefined
}

export type Death = 'before it arrives' | 'after it has arrived'

/** Agents that outlive the servers which start them. */
export class LastingDriver implements Driver, LastingRuns {
  readonly lasting = this
  readonly agents = new Map<string, LastingAgent>()
  /** Called with every agent before anything is written to it. */
  onStart: (agent: FakeRun) => void = () => undefined
  readonly #kept = new Map<string, Kept>()
  readonly #connections = new Set<Connection>()

  /** The server dies: what it still writes reaches nobody, and it reads nothing more. */
  cut(): void {
    for (const connection of this.#connections) connection.cut()
    this.#connections.clear()
  }

  prepare(runId: string, frame: number): void {
    this.#kept.set(runId, { frame, frames: new Map(), done: 0, doubtful: 0 })
  }

  start(launch: Launch, context: RunContext): Run {
    const agent = new LastingAgent(launch, context)
    this.agents.set(context.runId, agent)
    this.onStart(agent)
    return this.#connect(context.runId, { stdout: 0, stderr: 0 })
  }

  /** The server dies within its next write to any of its agents. */
  dieWithin(death: Death): void {
    for (const kept of this.#kept.values()) kept.dies = death
  }

  attach(runId: string, from: OutputPosition): Run {
    this.#of(runId).dies = undefined
    return this.#connect(runId, from)
  }

  #connect(runId: string, from: OutputPosition): Run {
    const agent = this.agents.get(runId)
    if (!agent) throw new Error(`no agent of ${runId} was started`)
    const connection = new Connection(agent, this.#of(runId), from)
    this.#connections.add(connection)
    return connection
  }

  keep(runId: string, frame: number, text: string): void {
    this.#of(runId).frames.set(frame, text)
  }

  kept(runId: string): ReadonlyMap<number, string> {
    return this.#of(runId).frames
  }

  frame(stream: string, text: string): Frame {
    return storedFrame(stream, text)
  }

  async left(): Promise<ReadonlyMap<string, LeftRun>> {
    return new Map(
      [...this.#kept].map(([runId, { frame }]) => [
        runId,
        { runId, frame, isStarted: this.agents.has(runId), startedAt: 0, outputAt: 0 },
      ]),
    )
  }

  keys(): undefined {
    return undefined
  }

  written(runId: string): WriteState {
    const { done, doubtful } = this.#of(runId)
    return { done, bytes: 0, doubtful }
  }

  async remove(runId: string): Promise<void> {
    this.#kept.delete(runId)
  }

  async terminate(runId: string): Promise<readonly number[]> {
    await this.agents.get(runId)?.stop()
    return []
  }

  #of(runId: string): Kept {
    const kept = this.#kept.get(runId)
    if (!kept) throw new Error(`no folder of ${runId} was made`)
    return kept
  }
}
