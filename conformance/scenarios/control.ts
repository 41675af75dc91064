import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentSession } from '../../src/index.ts'
import type { Scenario } from '../scenario.ts'
import { eventsOf, must, type Stage, type Told, Unplayable } from '../stage.ts'
import { completes } from './text.ts'

const HELLO = 'Hello from the scripted model. This text comes in several pieces.'

/** Settles when the model has begun to say what the scenario says. */
async function begins(stage: Stage, script: string): Promise<void> {
  await stage.model.waitFor(({ place }) => place?.scenario === script, stage.signal)
}

/** Stopped, and as ready for the next prompt as before. */
async function isStopped(stage: Stage, session: AgentSession, { outcome }: Told): Promise<void> {
  must(outcome === 'interrupted', `the outcome is ${outcome}`)
  completes(await stage.turn(session, 'text'), HELLO)
}

/** Waits for a word of the answer, from programs that tell it word by word. */
async function isSaying(stage: Stage, session: AgentSession): Promise<void> {
  await begins(stage, 'long')
  for await (const { event } of session.entries({ signal: stage.signal })) {
    if (event.type === 'session.started' && !event.capabilities.deltas) return
    if (event.type === 'text.delta') return
  }
}

/** A mode that a process of one turn is started in shows by what it does: a file is there that nobody allowed. */
async function writesUnasked(stage: Stage, session: AgentSession): Promise<void> {
  completes(await stage.turn(session, 'write'), 'The file is written.')
  must(existsSync(join(stage.cwd, 'hello.txt')), 'it did not write')
}

export const CONTROL: readonly Scenario[] = [
  {
    id: 'interrupt-text',
    title: 'Stops while it answers, and takes the next prompt',
    inShort: 'Stop, and go on',
    inCi: true,
    async play(stage) {
      const session = await stage.session()
      const told = stage.turn(session, 'long')
      await isSaying(stage, session)
      await session.interrupt()
      await isStopped(stage, session, await told)
    },
  },
  {
    id: 'interrupt-tool',
    title: 'Stops a command that runs, with everything it started',
    async play(stage) {
      const session = await stage.session()
      const told = stage.turn(session, 'hang')
      await stage.appears(join(stage.cwd, 'running'))
      await session.interrupt()
      await isStopped(stage, session, await told)
    },
  },
  {
    id: 'steer',
    title: 'Hears a word while it works',
    inShort: 'A word while it works',
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
      must(eventsOf(events, 'turn.steered').length === 1, 'it was not told that it joined the turn')
      must(stage.asked.includes('PINEAPPLE'), 'the model did not hear it')
    },
  },
  {
    id: 'resume',
    title: 'Goes on with a conversation in a new process',
    inShort: 'Resume in a new process',
    capability: 'resume',
    inCi: true,
    async play(stage) {
      const first = await stage.session()
      completes(await stage.turn(first, 'thinking'), 'It is 42.')
      const resume = first.nativeSessionId
      must(resume !== undefined, 'it has no id to go on with')
      await first[Symbol.asyncDispose]()
      await stage.canResume()
      const second = await stage.session({ resume })
      completes(await stage.turn(second, 'text'), HELLO)
      must(second.nativeSessionId === resume, `it goes on as ${second.nativeSessionId}`)
      const last = stage.model.requests.findLast(({ place }) => place?.scenario === 'text')
      must(JSON.stringify(last?.body).includes('It is 42.'), 'the model was not told of what was said before')
    },
  },
  {
    id: 'queue',
    title: 'Two prompts at once: the second waits',
    async play(stage) {
      const session = await stage.session()
      const turns = [stage.turn(session, 'shell'), stage.turn(session, 'text')] as const
      const [first, second] = await Promise.all(turns)
      completes(first, 'The command succeeded.')
      completes(second, HELLO)
      must(eventsOf(second.events, 'turn.queued').length === 1, 'the second did not wait')
    },
  },
  {
    id: 'set-model',
    title: 'Changes its model on the way',
    inShort: 'Another model on the way',
    capability: 'setModel',
    async play(stage) {
      const { otherModel } = stage.program
      if (otherModel === undefined) throw new Unplayable('offline it has one model')
      const session = await stage.session()
      completes(await stage.turn(session, 'text'), HELLO)
      const before = stage.model.requests.length
      await session.setModel(otherModel)
      const { outcome } = await stage.turn(session, 'text')
      must(outcome === 'completed', `the outcome is ${outcome}`)
      const asked = stage.model.requests.slice(before).map(({ path, body }) => [path, body])
      // Its provider may stand before the name, or behind it.
      const name = otherModel.replace(/^.*\//, '').replace(/\(\w+\)$/, '')
      must(JSON.stringify(asked).includes(name), 'the old model was asked')
    },
  },
  {
    id: 'set-mode',
    title: 'Changes its mode on the way',
    async play(stage) {
      const { otherMode } = stage.program
      must(otherMode !== undefined, 'there is no other mode to change to')
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
    title: 'Holds a limit of model calls',
    async play(stage) {
      const policy = { approval: 'auto-all', sandbox: 'full-access', maxSteps: 3 } as const
      const { outcome } = await stage.turn(await stage.session({ policy }), 'endless')
      must(outcome === 'max_steps', `the outcome is ${outcome}`)
    },
  },
]
