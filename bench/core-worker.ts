import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { agents } from '../src/agents/index.ts'
import { driver } from '../src/drivers/index.ts'
import { FrameQueue } from '../src/drivers/process/frame-queue.ts'
import { systemTimers } from '../src/drivers/timers.ts'
import { type Frame, type FrameStream, jsonFrame } from '../src/framing/frame.ts'
import { LineSplitter } from '../src/framing/lines.ts'
import { DEFAULT_POLICY, type Entry, type LaunchKind } from '../src/model/index.ts'
import { NO_VALUES } from '../src/model/text/large-value.ts'
import { stamp } from '../src/sessions/log/stamp.ts'
import { Conversation } from '../src/sessions/machine/conversation.ts'
import { Play } from './play.ts'
import { Stopwatch } from './stopwatch.ts'

/** One measurement in a separate process: `parse` is the bare loop, `events` is the path of the library. */
const [mode = '', file = '', times = '1', warmUp = '1', agentId = '', launchName = '', plan = ''] =
  process.argv.slice(2)

const QUEUED_BYTES = 1024 * 1024

const measured = mode === 'parse' ? parse : events()
// Loading modules and compiling hot functions happen once per process and are not measured.
await measured(filesOf(warmUp), new Stopwatch())
const stopwatch = new Stopwatch()
await measured(filesOf(times), stopwatch)
process.stdout.write(JSON.stringify(stopwatch.stop()))

function filesOf(count: string): string[] {
  return Array<string>(Number(count)).fill(file)
}

async function parse(files: readonly string[], stopwatch: Stopwatch): Promise<void> {
  const child = spawn('cat', files)
  child.stdout.setEncoding('utf8')
  let rest = ''
  for await (const chunk of child.stdout) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    let count = 0
    for (const line of lines) if (JSON.parse(line) !== undefined) count++
    stopwatch.count(count)
  }
}

function events(): typeof parse {
  const launch: LaunchKind = launchName === 'live' ? 'live' : 'oneshot'
  const agent = agents.find(({ id }) => id === agentId)
  const recipe = agent?.launches[launch]
  if (!agent || !recipe) throw new Error(`there is no ${launch} launch of ${agentId}`)
  const stream = recipe.stream ?? 'stdout'
  let entries: Entry[] = []
  let seq = 0
  let at = 0
  const open = () =>
    new Conversation({
      agent: agent.id,
      recipe,
      start: { launch, cwd: '/', policy: DEFAULT_POLICY, options: {} },
      digest: () => '',
      now: () => 0,
      emit(event, turn, native) {
        entries.push(stamp(++seq, 'bench', turn, at, event, native))
      },
    })
  const play = new Play(open, launch, stream, JSON.parse(readFileSync(plan, 'utf8')))
  return async (files, stopwatch) => {
    for await (const batch of stream === 'stdout' ? byProcess(files) : byServer(files, stream)) {
      at = Date.now()
      play.hear(batch)
      entries = []
      stopwatch.count(batch.length)
    }
    play.finish()
    if (play.strange > 0) throw new Error(`${play.strange} frames were not understood`)
  }
}

function byProcess(files: readonly string[]): AsyncIterable<readonly Frame[]> {
  const run = driver({ timers: systemTimers }).start(
    { kind: 'process', argv: ['cat', ...files], env: {}, passEnv: [] },
    // Processes with the marker of a run end with it. Two concurrent benches must not end each other's.
    { runId: `bench-${process.pid}`, cwd: '/', env: {}, values: NO_VALUES },
  )
  return run.frames
}

/** The events of a server come over a connection, and are cut and queued chunk by chunk. */
function byServer(files: readonly string[], stream: FrameStream): AsyncIterable<readonly Frame[]> {
  const queue = new FrameQueue(QUEUED_BYTES)
  const { stdout } = spawn('cat', files)
  const splitter = new LineSplitter()
  stdout.on('data', (chunk: Buffer) => {
    const frames: Frame[] = []
    for (const piece of splitter.push(chunk))
      if (typeof piece === 'string') frames.push(jsonFrame(stream, piece))
    queue.push(frames, chunk.length)
    if (!queue.full) return
    stdout.pause()
    queue.whenRoom(() => stdout.resume())
  })
  stdout.on('end', () => queue.close())
  return queue
}
