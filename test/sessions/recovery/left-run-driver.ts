import type { Launch, Write } from '../../../src/agents/agent.ts'
import type {
  LastingRuns,
  LeftRun,
  OutputPosition,
  RunContext,
  WriteState,
} from '../../../src/drivers/driver.ts'
import { type Frame, storedFrame } from '../../../src/framing/frame.ts'
import { FakeDriver, type FakeRun } from '../fake-driver.ts'

interface Kept extends LeftRun {
  launch: Launch | undefined
  texts: Map<number, string>
  written: WriteState
}

/** What outlives the owners of runs: agents that write, and how much was written to them. */
export class Machine {
  readonly runs = new Map<string, Kept>()
  /** The wall clock. */
  now = 0
}

/** Runs that outlive the house that started them: the next house takes a driver on the same machine. */
export class LeftRunDriver extends FakeDriver implements LastingRuns {
  readonly lasting = this
  readonly machine: Machine
  /** A write that is not made: the owner dies within it. */
  doubt: Pick<WriteState, 'doubtful' | 'isTorn'> | undefined

  constructor(machine = new Machine()) {
    super()
    this.machine = machine
  }

  prepare(runId: string, frame: number): void {
    const { now } = this.machine
    const times = { startedAt: now, outputAt: now }
    const written = { done: 0, bytes: 0, doubtful: 0 }
    const left = { runId, frame, isStarted: false, ...times }
    this.machine.runs.set(runId, { ...left, launch: undefined, texts: new Map(), written })
  }

  override start(launch: Launch, context: RunContext): FakeRun {
    const kept = this.#kept(context.runId)
    kept.isStarted = true
    kept.launch = launch
    return this.#lasting(super.start(launch, context), kept)
  }

  attach(runId: string, from: OutputPosition, context: Pick<RunContext, 'values'>): FakeRun {
    const kept = this.#kept(runId)
    if (!kept.launch) throw new Error('it was not started')
    const run = super.start(kept.launch, { ...context, runId, cwd: '/', env: {} })
    return this.#lasting(run, kept, from)
  }

  keep(runId: string, frame: number, text: string): void {
    this.#kept(runId).texts.set(frame, text)
  }

  kept(runId: string, committed: number): ReadonlyMap<number, string> {
    const { texts } = this.#kept(runId)
    for (const frame of texts.keys()) if (frame > committed) texts.delete(frame)
    return new Map(texts)
  }

  frame(stream: string, text: string): Frame {
    return storedFrame(stream, text)
  }

  async left(): Promise<ReadonlyMap<string, LeftRun>> {
    return new Map(this.machine.runs)
  }

  keys(): undefined {
    return undefined
  }

  written(runId: string): WriteState {
    return this.#kept(runId).written
  }

  async remove(runId: string): Promise<void> {
    this.machine.runs.delete(runId)
  }

  async terminate(): Promise<readonly number[]> {
    return []
  }

  #kept(runId: string): Kept {
    const kept = this.machine.runs.get(runId)
    if (!kept) throw new Error(`there is no run ${runId}`)
    return kept
  }

  #lasting(run: FakeRun, kept: Kept, from: OutputPosition = { stdout: 0, stderr: 0 }): FakeRun {
    const done = async () => {
      kept.written = { done: kept.written.done + 1, bytes: 0, doubtful: 0 }
    }
    const write = run.write.bind(run)
    const lasting = {
      position: from,
      skip: done,
      release: () => undefined,
      leave: async () => run.leave(),
    }
    return Object.assign(run, {
      lasting,
      write: async (what: Write) => {
        if (this.doubt) kept.written = { ...kept.written, ...this.doubt }
        else {
          await write(what)
          await done()
        }
      },
    })
  }
}
