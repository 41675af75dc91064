import { spawn } from 'node:child_process'
import { agents } from '../src/agents/index.ts'
import { driver } from '../src/drivers/index.ts'
import { systemTimers } from '../src/drivers/timers.ts'
import { DEFAULT_POLICY, type Entry } from '../src/model/index.ts'
import { Conversation } from '../src/sessions/conversation.ts'
import { stamp } from '../src/sessions/log.ts'

/** One measurement in a process of its own: `parse` is the bare loop, `events` is the library's path. */
const [mode = '', agentId = '', launch = '', file = ''] = process.argv.slice(2)

// Loading the modules is no part of it.
const before = process.cpuUsage()
const frames = mode === 'parse' ? await parse() : await events()
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

async function events(): Promise<number> {
  const agent = agents.find(({ id }) => id === agentId)
  const recipe = agent?.launches[launch === 'live' ? 'live' : 'oneshot']
  if (!agent || !recipe) throw new Error(`there is no ${launch} launch of ${agentId}`)
  let entries: Entry[] = []
  let seq = 0
  const conversation = new Conversation({
    agent: agent.id,
    recipe,
    start: { launch: launch === 'live' ? 'live' : 'oneshot', cwd: '/', policy: DEFAULT_POLICY, options: {} },
    digest: () => '',
    now: () => 0,
    emit(event, turn, native) {
      entries.push(stamp(++seq, 'bench', turn, Date.now(), event, native))
    },
  })
  conversation.open()
  conversation.launch()
  conversation.begin(conversation.accept())
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
    for (const frame of batch) conversation.frame(frame)
    entries = []
  }
  return conversation.coverage.frames
}
