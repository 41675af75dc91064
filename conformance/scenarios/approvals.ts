import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentSession, Answer } from '../../src/index.ts'
import { RequestOpened } from '../../src/model/events/request.ts'
import { toMainstemError } from '../../src/model/index.ts'
import { adapterRun, isAboutCall } from '../adapter-run.ts'
import type { Scenario } from '../scenario.ts'
import { eventsOf, type FinishedTurn, must, type Stage } from '../stage.ts'
import { completes } from './text.ts'

/** Every action needs an approval. */
const ASK = { approval: 'ask', sandbox: 'none' } as const
const ALLOW = { decision: 'allow', scope: 'once' } as const

/** Answers that decide nothing: other types, other spellings, and the shapes of other programs. */
const UNDECIDED: readonly unknown[] = [
  undefined,
  null,
  false,
  'deny',
  1,
  [],
  {},
  { decision: 'yes' },
  { decision: 'DENY' },
  { decision: ['allow'] },
  { decision: 'allow', scope: 'forever' },
  { decision: 'answered', answers: {} },
  { allow: false },
  { behavior: 'deny' },
]

/** The file that the command of the script writes, as the witness of an approval. */
const witness = (stage: Stage) => join(stage.cwd, 'permission.txt')

function mustHaveAsked({ events, outcome }: FinishedTurn): void {
  const calls = eventsOf(events, 'tool.completed').map(({ status }) => status)
  const isAsked = eventsOf(events, 'request.opened').length > 0
  must(isAsked, `no request was opened; the outcome is ${outcome}, its calls: ${calls.join() || 'none'}`)
}

/** Returns the code with which an answer was refused. */
async function refusalOf(session: AgentSession, request: RequestOpened, answer: Answer): Promise<string> {
  try {
    await session.answer(request, answer)
    return 'none'
  } catch (thrown) {
    return toMainstemError(thrown).code
  }
}

/** The request that a hook read from its standard input, and the call that it decided. */
async function mustShowCall(path: string, { events }: FinishedTurn): Promise<void> {
  const request = RequestOpened.parse(JSON.parse(await readFile(path, 'utf8')))
  const call = eventsOf(events, 'tool.started').find(({ toolId }) => toolId === request.toolId)
  must(call?.name === request.tool, `the hook was asked about ${request.tool} and not about ${call?.name}`)
  must(request.canonicalName === 'execute', `the hook was asked about ${request.canonicalName}`)
}

export const APPROVALS: readonly Scenario[] = [
  {
    id: 'deny-reason',
    title: 'Denials with a reason',
    effect: 'the file is missing, and the model received the reason',
    async play(stage) {
      const onRequest = () => ({ decision: 'deny', message: 'Use the PINEAPPLE instead.' }) as const
      const told = await stage.turn(await stage.session({ policy: ASK, onRequest }), 'permission')
      must(!existsSync(witness(stage)), 'the command ran although it was denied')
      mustHaveAsked(told)
      must(
        stage.asked.includes('PINEAPPLE'),
        `the model did not receive the reason; the outcome is ${told.outcome}`,
      )
    },
  },
  {
    id: 'undecided',
    title: 'Answers that decide nothing',
    effect: 'the file is missing after each of 14 answers',
    async play(stage) {
      let answer: unknown
      // A program in JavaScript can return anything.
      const session = await stage.session({ policy: ASK, onRequest: () => answer as Answer })
      for (answer of UNDECIDED) {
        const told = await stage.turn(session, 'permission')
        mustHaveAsked(told)
        must(!existsSync(witness(stage)), `the command ran after the answer ${JSON.stringify(answer)}`)
        const allowed = eventsOf(told.events, 'request.resolved').filter(
          ({ decision }) => decision !== 'deny',
        )
        must(allowed.length === 0, `${JSON.stringify(answer)} was taken for ${allowed[0]?.decision}`)
      }
    },
  },
  {
    id: 'stale-answers',
    title: 'Answers to other requests',
    effect: 'the file is missing; each answer has a refusal',
    async play(stage) {
      const refusals: string[] = []
      let asked: RequestOpened | undefined
      const session: AgentSession = await stage.session({
        policy: ASK,
        async onRequest(request) {
          asked = request
          for (const changed of [{ requestId: 'another' }, { inputDigest: 'another' }])
            refusals.push(await refusalOf(session, { ...request, ...changed }, ALLOW))
          return { decision: 'deny' }
        },
      })
      const told = await stage.turn(session, 'permission')
      mustHaveAsked(told)
      must(asked !== undefined, 'nobody was asked')
      refusals.push(await refusalOf(session, asked, ALLOW))
      must(!existsSync(witness(stage)), 'the command ran although it was denied')
      must(!refusals.includes('none'), `the answers were refused with ${refusals.join()}`)
    },
  },
  {
    id: 'changed-input',
    title: 'Allow with changed input',
    effect: 'the changed command ran, and the original did not',
    async play(stage) {
      const input = { command: 'echo changed > changed.txt', description: 'Run another command' }
      const onRequest = () => ({ ...ALLOW, input })
      const told = await stage.turn(await stage.session({ policy: ASK, onRequest }), 'permission')
      mustHaveAsked(told)
      must(!existsSync(witness(stage)), 'the command ran with its own input')
      const [answer] = eventsOf(told.events, 'request.resolved')
      must(answer?.decision === 'allow', `it was denied: ${answer?.message}`)
      completes(told, 'I have seen the decision.')
      must(existsSync(join(stage.cwd, 'changed.txt')), 'the changed command did not run')
    },
  },
  {
    id: 'callback',
    title: 'What `canUseTool` is asked about',
    effect: 'both files exist; the callback saw each call',
    async play(stage) {
      must(stage.launch === 'live', 'no request was opened; a run with canUseTool is live')
      for (const [script, canonicalName] of [
        ['permission', 'execute'],
        ['write', 'edit'],
      ] as const) {
        const { asked, events } = await adapterRun(stage, script)
        const [about] = asked
        must(about !== undefined, `no request was opened for ${canonicalName}`)
        must(about.canonicalName === canonicalName, `it was asked about ${about.canonicalName}`)
        must(isAboutCall(about, events), `no call is ${JSON.stringify(about)}`)
      }
      must(
        existsSync(witness(stage)) && existsSync(join(stage.cwd, 'hello.txt')),
        'an allowed call did not run',
      )
    },
  },
  {
    id: 'hook',
    title: 'Approval by a hook',
    effect: 'the file is missing, then exists; the hook saw the call',
    async play(stage) {
      const [seen, decide] = [join(stage.cwd, 'seen.json'), join(stage.cwd, 'decide.sh')]
      await writeFile(decide, `cat > ${seen}\ntest -e ${join(stage.cwd, 'yes')}\n`)
      const hooks = { beforeToolCall: { command: ['/bin/sh', decide] } }
      const session = await stage.session({ policy: ASK, options: { hooks } })
      const denied = await stage.turn(session, 'permission')
      mustHaveAsked(denied)
      must(!existsSync(witness(stage)), 'the command ran although the hook denied it')
      await mustShowCall(seen, denied)
      await writeFile(join(stage.cwd, 'yes'), '')
      completes(await stage.turn(session, 'permission'), 'I have seen the decision.')
      must(existsSync(witness(stage)), 'the command did not run although the hook allowed it')
    },
  },
  {
    id: 'read-only',
    title: 'Read-only policy',
    effect: 'both files are missing',
    async play(stage) {
      const policy = { approval: 'ask', sandbox: 'read-only' } as const
      const session = await stage.session({ policy, onRequest: () => ({ decision: 'deny' }) })
      for (const script of ['write', 'touches']) {
        const { outcome } = await stage.turn(session, script)
        must(outcome !== 'failed', `the outcome is ${outcome}`)
      }
      for (const file of ['hello.txt', 'ran.txt'])
        must(!existsSync(join(stage.cwd, file)), `${file} was written`)
    },
  },
]
