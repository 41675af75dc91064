import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentSession, Answer, Answerer } from '../../src/index.ts'
import type { Scenario } from '../scenario.ts'
import { eventsOf, must, type Stage } from '../stage.ts'
import { completes } from './text.ts'

/** Every action needs an approval. */
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

/** A session in plan mode. A one-shot process can only start in it. */
async function planning(stage: Stage): Promise<AgentSession> {
  const onRequest = () => ({ decision: 'allow', scope: 'once' }) as const
  if (stage.launch === 'oneshot') {
    return await stage.session({ policy: { approval: 'ask', sandbox: 'read-only' }, onRequest })
  }
  const { planMode } = stage.program
  must(planMode !== undefined, 'it has no plan mode')
  const session = await stage.session({ policy: ASK, onRequest })
  completes(await stage.turn(session, 'thinking'), 'It is 42.')
  await session.setMode(planMode)
  return session
}

export const PEOPLE: readonly Scenario[] = [
  {
    id: 'allow',
    title: 'Permission requests: allow',
    effect: 'the command wrote its file',
    inShort: 'Permission requests',
    capability: 'permissions',
    inCi: true,
    async play(stage) {
      const once = permission({ decision: 'allow', scope: 'once' })
      const { told, requests, isDone, ended } = await asks(stage, 'permission', once)
      must(requests.length > 0, `no request was opened; ${ended}`)
      completes(told, 'I have seen the decision.')
      must(isDone, 'the command did not run')
    },
  },
  {
    id: 'deny',
    title: 'Permission requests: deny',
    effect: 'the file is missing; the call is `denied`',
    async play(stage) {
      const no = permission({ decision: 'deny' })
      const { told, requests, isDone, statuses, ended } = await asks(stage, 'permission', no)
      must(!isDone, 'the command ran although it was denied')
      must(requests.length > 0, `no request was opened; ${ended}`)
      must(told.outcome === 'completed' && statuses.includes('denied'), ended)
    },
  },
  {
    id: 'allow-session',
    title: 'Permission requests: allow for the session',
    effect: 'both commands ran after one request',
    async play(stage) {
      const session = permission({ decision: 'allow', scope: 'session' })
      const { told, requests, isDone, statuses, ended } = await asks(stage, 'twice', session)
      must(requests.length > 0, `no request was opened; ${ended}`)
      must(requests.length === 1, `it asked ${requests.length} times; ${ended}`)
      completes(told, 'Both are done.')
      must(isDone, 'the command did not run')
      must(statuses.join() === 'success,success', `its calls are ${statuses.join()}`)
    },
  },
  {
    id: 'question',
    title: 'Questions to the user',
    effect: 'the model received the answer',
    inShort: 'Questions to the user',
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
        `no request was opened; ${ended}; the answer is ${JSON.stringify(told.text)}`,
      )
      completes(told, 'I have seen the answer.')
      // Once as an option of the question, and once more as the answer.
      must(
        JSON.stringify(stage.model.requests.at(-1)?.body).split('Blue').length > 2,
        'the model did not receive the answer',
      )
    },
  },
  {
    id: 'proposal',
    title: 'Plan approval',
    effect: 'the request, and the end of the turn',
    capability: 'planApproval',
    async play(stage) {
      const told = await stage.turn(await planning(stage), 'proposal')
      must(
        eventsOf(told.events, 'request.opened').some(({ kind }) => kind === 'plan'),
        `no plan was proposed; the answer is ${JSON.stringify(told.text)}`,
      )
      completes(told, 'I have seen the decision on the plan.')
    },
  },
]
