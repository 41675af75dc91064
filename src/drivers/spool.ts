import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProcessLaunch } from '../agents/agent.ts'
import { type Frame, storedFrame } from '../framing/frame.ts'
import { toMainstemError } from '../model/index.ts'
import { tryJson } from '../model/text/json.ts'
import {
  type ChildKeys,
  type Driver,
  type LastingRuns,
  type LastingStart,
  type LeftRun,
  NOTHING_WRITTEN,
  type OutputPosition,
  type Run,
  type RunContext,
  type WriteState,
} from './driver.ts'
import { environmentOf, ownedRun, RUN_MARKER } from './process/environment.ts'
import { failedRun } from './process/failed-run.ts'
import { FrameQueue } from './process/frame-queue.ts'
import { placeFiles } from './process/launch-files.ts'
import { ProcessRun } from './process/process-run.ts'
import { removeFolder } from './process/run-folders.ts'
import { GRACES } from './process/terminate.ts'
import { type ProcessDriverOptions, QUEUE_BYTES } from './process.ts'
import { launchSpooled } from './spool/launcher.ts'
import { hasOpenInput, SpoolChannels, type SpoolSetup } from './spool/spool-channels.ts'
import { SpoolFolder, spooledRuns } from './spool/spool-folder.ts'
import { writeStateIn } from './spool/spool-input.ts'
import { systemTimers } from './timers.ts'
import { runGroups } from './tree/cgroup.ts'
import { AHEAD_BYTES, orphanGuard } from './tree/orphan-guard.ts'
import { type ProcessTable, processTable } from './tree/process-table.ts'
import { ProcessTree } from './tree/process-tree.ts'
import { sweep } from './tree/sweep.ts'

export interface SpoolDriverOptions extends ProcessDriverOptions {
  /** The directory of the runs' folders. */
  spool: string
  /** How far an agent may be ahead of its reader, in bytes. */
  aheadBytes?: number
  /** How much space is free on the disk of a folder. Defaults to what the system reports. */
  freeBytes?: (folder: string) => number
}

const KEPT = 'kept'
const KEYS = 'keys'

/** A launcher that was started a moment ago has not written its pid yet. */
const PID_MS = 2_000
const PID_PAUSE_MS = 20

/** Runs local programs whose input and outputs are files, so that they and their output outlive this process. */
export class SpoolDriver implements Driver<ProcessLaunch>, LastingRuns {
  readonly lasting = this
  readonly #options: SpoolDriverOptions

  constructor(options: SpoolDriverOptions) {
    this.#options = { groups: runGroups(), ...options }
    mkdirSync(options.spool, { recursive: true, mode: 0o700 })
  }

  prepare(runId: string, frame: number): void {
    // Not named like other folders of runs, which every start of a server removes when their owner is gone.
    const temporary = mkdtempSync(join(tmpdir(), 'mainstem-run-'))
    try {
      this.#folder(runId).create(temporary, frame)
    } catch (thrown) {
      rmSync(temporary, { recursive: true, force: true })
      throw thrown
    }
  }

  start(launch: ProcessLaunch, context: RunContext): Run {
    const folder = this.#folder(context.runId)
    const runId = this.#marked(context.runId)
    const { temporary = '' } = folder
    const guarded = this.#guard(runId, folder)
    try {
      const placed = placeFiles(launch, temporary)
      const environment = environmentOf(
        this.#options.environment ?? process.env,
        placed,
        { ...context, runId, protect: (keys) => this.#protect(folder, keys, context) },
        temporary,
      )
      const input = context.lasting?.input ?? 'open'
      const kind = input === 'open' ? 'fifo' : 'file'
      const launched = () => launchSpooled(folder, placed, context, environment, kind)
      return this.#run(runId, context, { folder, input, launch: launched }, guarded)
    } catch (thrown) {
      return failedRun(toMainstemError(thrown), async () => guarded())
    }
  }

  attach(run: string, from: OutputPosition, context: Pick<RunContext, 'values'>): Run {
    const folder = this.#folder(run)
    folder.check()
    const runId = this.#marked(run)
    const guarded = this.#guard(runId, folder)
    try {
      const input: LastingStart['input'] = hasOpenInput(folder) ? 'open' : 'whole'
      return this.#run(runId, context, { folder, input, from }, guarded)
    } catch (thrown) {
      guarded()
      throw thrown
    }
  }

  keep(runId: string, frame: number, text: string): void {
    appendFileSync(this.#folder(runId).file(KEPT), `${JSON.stringify([frame, text])}\n`, { mode: 0o600 })
  }

  kept(runId: string, committed: number): ReadonlyMap<number, string> {
    const folder = this.#folder(runId)
    const text = folder.read(KEPT)
    // The last line may be cut off.
    const parsed = text.split('\n').flatMap((line) => {
      const value = tryJson(line)
      return Array.isArray(value) && Number(value[0]) <= committed ? [value] : []
    })
    const kept = new Map(parsed.map(([frame, whole]) => [Number(frame), String(whole)]))
    const lines = [...kept].map((line) => `${JSON.stringify(line)}\n`).join('')
    if (lines !== text) {
      // The frames with these numbers are still to come, and would be taken for those that were never committed.
      writeFileSync(folder.file(`${KEPT}.new`), lines, { mode: 0o600 })
      renameSync(folder.file(`${KEPT}.new`), folder.file(KEPT))
    }
    return kept
  }

  frame(stream: string, text: string): Frame {
    return storedFrame(stream, text)
  }

  async left(): Promise<ReadonlyMap<string, LeftRun>> {
    const found = new Map<string, LeftRun>()
    for (const runId of spooledRuns(this.#options.spool)) {
      const { frame = 0, times } = this.#folder(runId)
      found.set(runId, { runId, frame, isStarted: await this.#isStarted(runId), ...times })
    }
    return found
  }

  written(run: string): WriteState {
    const folder = this.#folder(run)
    // A whole input was complete when the agent was started.
    return hasOpenInput(folder)
      ? writeStateIn(folder)
      : { ...NOTHING_WRITTEN, done: Number.POSITIVE_INFINITY }
  }

  keys(run: string): ChildKeys | undefined {
    const keys = this.#folder(run).read(KEYS)
    return keys === '' ? undefined : JSON.parse(keys)
  }

  async remove(run: string): Promise<void> {
    const folder = this.#folder(run)
    const { temporary } = folder
    if (temporary !== undefined) await removeFolder(temporary)
    folder.remove()
  }

  async terminate(run: string): Promise<readonly number[]> {
    const { timers, graces, platform } = this.#options
    const { temporary } = this.#folder(run)
    const launcher = this.#folder(run).livingLauncher(this.#table, this.#mark(run))
    return sweep([this.#marked(run)], {
      ...(launcher && { roots: [launcher] }),
      ...(timers && { timers }),
      ...(graces && { graces }),
      ...(platform !== undefined && { platform }),
      ...(temporary !== undefined && { folders: [temporary] }),
    })
  }

  #folder(run: string): SpoolFolder {
    return SpoolFolder.of(this.#options.spool, run)
  }

  get #table(): ProcessTable {
    return processTable(this.#options.platform ?? process.platform)
  }

  #mark(run: string): string {
    return `${RUN_MARKER}=${this.#marked(run)}`
  }

  #marked(run: string): string {
    const { owner } = this.#options
    return owner === undefined ? run : ownedRun(owner, run)
  }

  #guard(runId: string, folder: SpoolFolder): () => void {
    return (this.#options.guard ?? orphanGuard).add(runId, folder.temporary ?? '', folder.path)
  }

  #run(
    runId: string,
    { values }: Pick<RunContext, 'values'>,
    run: Pick<SpoolSetup, 'folder' | 'input' | 'launch' | 'from'>,
    guarded: () => void,
  ): Run {
    const { timers = systemTimers, graces = GRACES, groups, queueBytes, maxLineBytes } = this.#options
    const table = this.#table
    const mark = `${RUN_MARKER}=${runId}`
    const queue = new FrameQueue(queueBytes ?? QUEUE_BYTES, run.from)
    const reading = { queue, values, maxLineBytes }
    const { aheadBytes = AHEAD_BYTES, freeBytes = freeOn } = this.#options
    let channels: SpoolChannels | undefined
    let known: ProcessTree | undefined
    // The first process of a run with a whole input starts later.
    const tree = () => {
      known ??=
        channels?.pid === undefined ? undefined : new ProcessTree(table, [runId], channels.pid, groups)
      return known ?? new ProcessTree(table, [runId], undefined, groups)
    }
    return new ProcessRun(
      (fail) => {
        channels = new SpoolChannels(
          { ...run, mark, table, members: () => tree().look(), reading, aheadBytes, freeBytes },
          fail,
        )
        if (channels.pid !== undefined && run.launch) void groups?.enter(runId, channels.pid)
        return channels
      },
      {
        tree: {
          look: () => tree().look(),
          signal: (members, signal) => tree().signal(members, signal),
          tools: (since, until) => tree().tools(since, until),
        },
        now: () => table.now(),
        timers,
        graces,
        queue,
        firstSignal: this.#options.firstSignal,
        cleanUp: async () => {
          groups?.remove([runId])
          guarded()
        },
      },
    )
  }

  /** Stores the credentials beside the output, which may contain them, to mask them in every later process too. */
  #protect(folder: SpoolFolder, keys: ChildKeys, { protect }: RunContext): void {
    writeFileSync(folder.file(KEYS), JSON.stringify(keys), { mode: 0o600 })
    protect?.(keys)
  }

  /**
   * A run without a pid was never started, unless its launcher was started a moment ago, or the system was restarted:
   * it may have stopped before the pid was on the disk.
   */
  async #isStarted(run: string): Promise<boolean> {
    const folder = this.#folder(run)
    const { timers = systemTimers } = this.#options
    if (folder.isOfEarlierBoot) return true
    const mark = this.#mark(run)
    for (let waited = 0; folder.launcher === undefined; waited += PID_PAUSE_MS) {
      const { marks } = await this.#table.scan(0)
      const isStarting = [...marks.values()].some((variables) => variables.includes(mark))
      if (!isStarting || waited >= PID_MS) return isStarting
      await timers.sleep(PID_PAUSE_MS, new AbortController().signal)
    }
    return true
  }
}

function freeOn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

/** Why runs cannot outlive this process in this directory; undefined if they can. */
export function spoolProblem(directory: string): string | undefined {
  const fifo = join(directory, `.fifo-${process.pid}`)
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    execFileSync('mkfifo', ['-m', '600', fifo], { stdio: 'ignore' })
    return undefined
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    return `no FIFO can be made in ${directory}: ${why}`
  } finally {
    rmSync(fifo, { force: true })
  }
}
