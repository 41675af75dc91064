import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentSession } from '../../src/index.ts'
import type { Scenario } from '../scenario.ts'
import { eventsOf, must, type Stage, Unplayable } from '../stage.ts'
import { modelOf } from '../usage.ts'
import { completes, HELLO } from './text.ts'

/** The mode of a one-shot process shows in its actions: it writes a file without asking. */
async function writesUnasked(stage: Stage, session: AgentSession): Promise<void> {
  completes(await stage.turn(session, 'write'), 'The file is written.')
  must(existsSync(join(stage.cwd, 'hello.txt')), 'it did not write the file')
}

/** Some programs accept a short name and ask for a full one. */
export const isModel = (model: string, name: string) =>
  model.split('-').includes(name) || model.startsWith(name)

export const CONTROL: readonly Scenario[] = [
  {
    id: 'steer',
    title: 'Mid-turn steering',
    effect: 'the model received the message before the turn ended',
    inShort: 'Mid-turn steering',
    capability: 'steer',
    async play(stage) {
      const session = await stage.session()
      const told = stage.turn(session, 'waits')
      await stage.appears(join(stage.cwd, 'running'))
      try {
        await session.steer('By the way: PINEAPPLE.')
      } finally {
        await writeFile(join(stage.cwd, 'go'), '')
      }
      const { events, outcome } = await told
      must(outcome === 'completed', `the outcome is ${outcome}`)
      must(eventsOf(events, 'turn.steered').length === 1, 'no event reports that the message joined the turn')
      must(stage.asked.includes('PINEAPPLE'), 'the model did not receive the message')
    },
  },
  {
    id: 'resume',
    title: 'Resume in a new process',
    effect: 'the model received the earlier turn',
    inShort: 'Resume in a new process',
    capability: 'resume',
    inCi: true,
    async play(stage) {
      const first = await stage.session()
      completes(await stage.turn(first, 'thinking'), 'It is 42.')
      const resume = first.nativeSessionId
      must(resume !== undefined, 'it reported no session id')
      await first[Symbol.asyncDispose]()
      stage.canResume()
      const second = await stage.session({ resume })
      completes(await stage.turn(second, 'text'), HELLO)
      must(second.nativeSessionId === resume, `it resumed as ${second.nativeSessionId}`)
      const last = stage.model.requests.findLast(({ place }) => place?.scenario === 'text')
      must(JSON.stringify(last?.body).includes('It is 42.'), 'the model did not receive the earlier turn')
    },
  },
  {
    id: 'queue',
    title: 'Queued prompts',
    effect: 'the model was asked in order, and the first turn ended before the second began',
    async play(stage) {
      const session = await stage.session()
      const turns = [stage.turn(session, 'shell'), stage.turn(session, 'text')] as const
      const [first, second] = await Promise.all(turns)
      completes(first, 'The command succeeded.')
      completes(second, HELLO)
      must(eventsOf(second.events, 'turn.queued').length === 1, 'the second prompt was not queued')
      const asked = stage.model.requests.flatMap(({ place }) => place?.scenario ?? [])
      must(asked.join() === [...asked].sort().join(), `the model was asked for ${asked.join()}`)
      const log = stage.logs.flat().map(({ event }) => event)
      const at = (type: 'turn.started' | 'turn.completed', turn: number) =>
        log.findIndex((event) => event.type === type && event.turn === turn)
      must(at('turn.completed', 1) < at('turn.started', 2), 'the second turn began before the first ended')
    },
  },
  {
    id: 'set-model',
    title: 'Switch models mid-session',
    effect: 'the model that was asked',
    inShort: 'Switch models mid-session',
    capability: 'setModel',
    async play(stage) {
      const { otherModel } = stage.program
      if (otherModel === undefined) throw new Unplayable('it has one model offline')
      const session = await stage.session()
      completes(await stage.turn(session, 'text'), HELLO)
      const before = stage.model.requests.length
      await session.setModel(otherModel)
      const { outcome } = await stage.turn(session, 'text')
      must(outcome === 'completed', `the outcome is ${outcome}`)
      const asked = stage.model.requests.slice(before).filter(({ place }) => place !== undefined)
      // A provider may precede the name, or follow it.
      const name = otherModel.replace(/^.*\//, '').replace(/\(\w+\)$/, '')
      const wrong = asked.map(modelOf).filter((model) => !isModel(model, name))
      must(asked.length > 0 && wrong.length === 0, `the model ${wrong[0]} was asked instead of ${name}`)
    },
  },
  {
    id: 'set-mode',
    title: 'Switch modes mid-session',
    effect: 'the mode that the program reports, or a file that it wrote without a request',
    async play(stage) {
      const { otherMode } = stage.program
      must(otherMode !== undefined, 'it has no other mode')
      const session = await stage.session({ policy: { approval: 'ask', sandbox: 'none' } })
      completes(await stage.turn(session, 'text'), HELLO)
      await session.setMode(otherMode)
      if (stage.launch === 'oneshot') return await writesUnasked(stage, session)
      completes(await stage.turn(session, 'text'), HELLO)
      const modes = eventsOf(
        stage.logs.flat().map(({ event }) => event),
        'session.updated',
      ).flatMap(({ mode }) => mode ?? [])
      must(modes.at(-1) === otherMode, `its modes were ${modes.join()}`)
    },
  },
  {
    id: 'steps',
    title: 'Limit on model calls',
    effect: 'the number of model calls',
    async play(stage) {
      for (const maxSteps of [1, 3]) {
        const before = stage.model.requests.length
        const policy = { approval: 'auto-all', sandbox: 'full-access', maxSteps } as const
        const { outcome } = await stage.turn(await stage.session({ policy }), 'endless')
        must(outcome === 'max_steps', `the outcome is ${outcome}`)
        const requests = stage.model.requests.slice(before)
        const calls = requests.filter(({ place }) => place?.scenario === 'endless').length
        // Claude and OpenCode stop by themselves. Others are interrupted, and quick tools and answers can be faster.
        const most = ['claude', 'opencode'].includes(stage.program.id) ? maxSteps : maxSteps + 3
        must(calls >= maxSteps && calls <= most, `it made ${calls} model calls of ${maxSteps}`)
      }
    },
  },
]
