import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentSession, Answer, Answerer } from '../../src/index.ts'
import type { Scenario } from '../scenario.ts'
import { eventsOf, must, type Stage } from '../stage.ts'
import { completes } from './text.ts'

/** Somebody has to be asked about everything. */
const ASK = { approval: 'ask', sandbox: 'none' } as const

const permission =
  (answer: Answer): Answerer =>
  ({ kind }) =>
    kind === 'permission' ? answer : { decision: 'deny' }

async function asks(stage: Stage, script: string, onRequest: Answerer) {
  const session = await stage.session({ policy: ASK, onRequest })
  const told = await stage.turn(session, script)
  const requests = eventsOf(told.events, 'request.opened')
  const isDone = existsSync(join(stage.cwd, 'permission.txt'))
  const statuses = eventsOf(told.events, 'tool.completed').map(({ status }) => status)
  const ended = `the outcome is ${told.outcome}, its calls: ${statuses.join() || 'none'}`
  return { told, requests, isDone, statuses, ended }
}

/** A session in which a plan comes first. A process of one turn is in that mode from its start, or never. */
async function planning(stage: Stage): Promise<AgentSession> {
  const onRequest = () => ({ decision: 'allow', scope: 'once' }) as const
  if (stage.launch === 'oneshot') {
    return await stage.session({ policy: { approval: 'ask', sandbox: 'read-only' }, onRequest })
  }
  const { planMode } = stage.program
  must(planMode !== undefined, 'it has no mode for plans')
  const session = await stage.session({ policy: ASK, onRequest })
  completes(await stage.turn(session, 'thinking'), 'It is 42.')
  await session.setMode(planMode)
  return session
}

export const PEOPLE: readonly Scenario[] = [
  {
    id: 'allow',
    title: 'Asks for permission, and goes on when it is given',
    inShort: 'Asks for permission',
    capability: 'permissions',
    inCi: true,
    async play(stage) {
      const once = permission({ decision: 'allow', scope: 'once' })
      const { told, requests, isDone, ended } = await asks(stage, 'permission', once)
      must(requests.length > 0, `nobody was asked; ${ended}`)
      completes(told, 'I have seen the decision.')
      must(isDone, 'it was not done')
    },
  },
  {
    id: 'deny',
    title: 'Does not do what was denied, and goes on',
    async play(stage) {
      const no = permission({ decision: 'deny' })
      const { told, requests, isDone, statuses, ended } = await asks(stage, 'permission', no)
      must(!isDone, 'it was done all the same')
      must(requests.length > 0, `nobody was asked; ${ended}`)
      must(told.outcome === 'completed' && statuses.includes('denied'), ended)
    },
  },
  {
    id: 'allow-session',
    title: 'Asks once for what is allowed for the session',
    async play(stage) {
      const session = permission({ decision: 'allow', scope: 'session' })
      const { told, requests, isDone, ended } = await asks(stage, 'twice', session)
      must(requests.length > 0, `nobody was asked; ${ended}`)
      must(requests.length === 1, `it asked ${requests.length} times; ${ended}`)
      completes(told, 'Both are done.')
      must(isDone, 'it was not done')
    },
  },
  {
    id: 'question',
    title: 'Asks a question, and hears the answer',
    inShort: 'Asks questions',
    capability: 'questions',
    async play(stage) {
      const { told, requests, ended } = await asks(stage, 'question', ({ kind, questions = [] }) => {
        if (kind !== 'question') return { decision: 'allow', scope: 'once' }
        return {
          decision: 'answered',
          answers: Object.fromEntries(questions.map(({ id }) => [id, ['Blue']])),
        }
      })
      must(
        requests.some(({ kind }) => kind === 'question'),
        `nobody was asked; ${ended}; it said ${JSON.stringify(told.text)}`,
      )
      completes(told, 'I have seen the answer.')
      // Once as a choice that the model offers, and once more as the answer.
      must(JSON.stringify(stage.model.requests.at(-1)?.body).split('Blue').length > 2, 'it was not told')
    },
  },
  {
    id: 'proposal',
    title: 'Shows a plan, and begins when it is approved',
    capability: 'planApproval',
    async play(stage) {
      const told = await stage.turn(await planning(stage), 'proposal')
      must(
        eventsOf(told.events, 'request.opened').some(({ kind }) => kind === 'plan'),
        `nobody was asked about a plan; it said ${JSON.stringify(told.text)}`,
      )
      completes(told, 'I have seen the decision on the plan.')
    },
  },
]
