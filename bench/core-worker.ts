import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { agents } from '../src/agents/index.ts'
import { driver } from '../src/drivers/index.ts'
import { systemTimers } from '../src/drivers/timers.ts'
import { jsonFrame } from '../src/framing/frame.ts'
import { DEFAULT_POLICY, type Entry, type LaunchKind } from '../src/model/index.ts'
import { Conversation } from '../src/sessions/conversation.ts'
import { stamp } from '../src/sessions/log.ts'
import { tell } from '../src/sessions/replay.ts'

/** What the worker has to know of a scene: how long it is, and what the agent was told in it. */
export interface ScenePlan {
  lines: number
  told: readonly (readonly [number, string])[]
}

/** One measurement in a process of its own: `parse` is the bare loop, `events` is the library's path. */
const [mode = '', file = '', agentId = '', launchName = '', plan = ''] = process.argv.slice(2)

const measured = mode === 'parse' ? parse : events()
// Neither loading the modules nor preparing what was told to the agent is part of it.
const before = process.cpuUsage()
const frames = await measured()
const { user, system } = process.cpuUsage(before)
process.stdout.write(JSON.stringify({ cpuMicros: user + system, frames }))

async function parse(): Promise<number> {
  const child = spawn('cat', [file])
  child.stdout.setEncoding('utf8')
  let rest = ''
  let count = 0
  for await (const chunk of child.stdout) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (JSON.parse(line) !== undefined) count++
  }
  return count
}

/** Every scene is a process of its own to the conversation: it starts, is told what it was told, and exits. */
function events(): () => Promise<number> {
  const launch: LaunchKind = launchName === 'live' ? 'live' : 'oneshot'
  const agent = agents.find(({ id }) => id === agentId)
  const recipe = agent?.launches[launch]
  if (!agent || !recipe) throw new Error(`there is no ${launch} launch of ${agentId}`)
  const stream = recipe.stream ?? 'stdout'
  const planned: ScenePlan[] = JSON.parse(readFileSync(plan, 'utf8'))
  const scenes = planned.map(({ lines, told }) => ({
    lines,
    told: told.map(([at, text]) => ({ at, frame: { stream, text, value: JSON.parse(text) } })),
  }))
  let entries: Entry[] = []
  let seq = 0
  const conversation = new Conversation({
    agent: agent.id,
    recipe,
    start: { launch, cwd: '/', policy: DEFAULT_POLICY, options: {} },
    digest: () => '',
    now: () => 0,
    emit(event, turn, native) {
      entries.push(stamp(++seq, 'bench', turn, Date.now(), event, native))
    },
  })
  let played = -1
  let [at, lines, heard] = [0, 0, 0]

  function advance(): void {
    if (at === lines) {
      if (played >= 0) conversation.exit({ code: 0 })
      played = (played + 1) % scenes.length
      at = 0
      heard = 0
      lines = scenes[played]?.lines ?? 0
      conversation.launch()
      if (launch === 'oneshot') conversation.begin(conversation.accept())
    }
    const told = scenes[played]?.told ?? []
    for (let next = told[heard]; next && next.at <= at; next = told[++heard]) tell(conversation, next.frame)
    at++
  }

  return async () => {
    conversation.open()
    const run = driver({ timers: systemTimers }).start(
      { kind: 'process', argv: ['cat', file], env: {}, passEnv: [] },
      {
        runId: 'bench',
        cwd: '/',
        env: {},
        blobs: { open: () => ({ write: () => undefined, close: async () => ({ id: '', bytes: 0 }) }) },
      },
    )
    for await (const batch of run.frames) {
      for (const frame of batch) {
        advance()
        conversation.frame(stream === 'stdout' ? frame : jsonFrame(stream, frame.text))
      }
      entries = []
    }
    const { frames, unmapped, malformed } = conversation.coverage
    if (unmapped + malformed > 0) throw new Error(`${unmapped + malformed} frames were not understood`)
    return frames
  }
}
