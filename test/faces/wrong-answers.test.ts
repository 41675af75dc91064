import { createHash } from 'node:crypto'
import { afterEach, expect, test, vi } from 'vitest'
import { OUR_VERSION } from '../../src/cli/daemon/connect.ts'
import { commandLine } from '../../src/cli/program.ts'
import { referenceOf } from '../../src/cli/turn/request-ref.ts'
import { MainstemClient } from '../../src/client/index.ts'
import { answerIn } from '../../src/gateway/rpc/answers.ts'
import { Handle } from '../../src/library/handle.ts'
import { AgentSession, type Answer } from '../../src/library/session.ts'
import type { RequestOpened } from '../../src/model/events/request.ts'
import type { BoundAnswer, Entry, RequestAnswer } from '../../src/model/index.ts'
import type { SessionHandle } from '../../src/sessions/session-handle.ts'
import type { Sessions } from '../../src/sessions/sessions.ts'
import { decisionOf } from '../../src/ues/approve.ts'
import type { CanUseTool } from '../../src/ues/index.ts'
import { Desktop } from '../cli/desktop.ts'
import { call } from '../gateway/api.ts'
import { startGateway, type TestGateway, TOKEN } from '../gateway/start.ts'
import { cluster } from '../nodes/cluster.ts'
import { FakeDriver, type FakeRun } from '../sessions/fake-driver.ts'
import { ASKING, ASKING_AGENTS, textOf } from '../sessions/turns/asking-agents.ts'
import { WRONG } from './wrong-values.ts'

type Asking = (typeof ASKING)[number]

afterEach(() => void vi.unstubAllEnvs())

/** A session whose agent has asked once for every wrong value, and what its face does with them. */
interface Scene extends AsyncDisposable {
  run: FakeRun
  requests(): Promise<readonly RequestOpened[]>
  log(): Promise<readonly Entry[]>
  give(request: RequestOpened, value: unknown): Promise<unknown>
  /** Ends the turn of the agent. */
  finish(): void
}

interface Face {
  scene(asking: Asking): Promise<Scene>
  /** Values that allow on this face: `/rpc` reads text, and `canUseTool` returns its own shape. */
  right?: readonly string[]
  /** Who answered, as the log names them. */
  author?: { principal: string; client: string }
  /** The face decides by itself if it gets no answer. */
  decides?: true
}

/** Passes a value as a type that it does not have, as JavaScript would. */
const untyped = <T>(value: unknown): T => value as T

const boundTo = ({ requestId, inputDigest }: RequestOpened, value: unknown) =>
  untyped<BoundAnswer>(
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { type: 'answer', requestId, inputDigest, ...value }
      : value,
  )

async function begin(driver: FakeDriver, asking: Asking, session: SessionHandle) {
  const scripts: ReturnType<Asking['script']>[] = []
  driver.onStart = (run) => scripts.push(asking.script(run))
  await session.prompt('go')
  await expect.poll(() => scripts[0]?.prompts, { interval: 1 }).toBeGreaterThan(0)
  scripts[0]?.begin(1)
  return { run: await driver.run(), finish: () => scripts[0]?.finish(1, 'done') }
}

interface Local {
  server: TestGateway
  sessions: Sessions
  id: string
  session: SessionHandle
}

type Give = (local: Local, request: RequestOpened, value: unknown) => Promise<unknown>

/** A reference of the command line has the beginning of it. */
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** A face of a server whose agents are scripted. */
function local(give: Give, before: (local: Local) => void = () => undefined): Face['scene'] {
  return async (asking) => {
    const driver = new FakeDriver()
    const more = ASKING_AGENTS.filter(({ id }) => id !== 'echo')
    const server = await startGateway({ driver, more, digest: sha256, version: OUR_VERSION })
    const { sessions } = server
    const policy = { approval: 'ask', sandbox: 'none' } as const
    const session = await sessions.create({
      ...{ agent: asking.agent, cwd: server.root, policy },
      principal: 'owner',
    })
    const { id } = session
    const all = { server, sessions, id, session }
    before(all)
    return {
      ...(await begin(driver, asking, session)),
      requests: async () => (await sessions.record(id))?.requests ?? [],
      log: async () => (await sessions.read(id, 0, 10_000)) ?? [],
      give: (request, value) => give(all, request, value),
      async [Symbol.asyncDispose]() {
        for (const run of driver.runs) run.die({ code: 0 })
        await server[Symbol.asyncDispose]()
      },
    }
  }
}

function librarySession({ sessions, id, session }: Local, onRequest?: (request: RequestOpened) => Answer) {
  const open = sessions.get(id)
  if (!open) throw new Error(`${session.id} is not open`)
  const closed = new AbortController().signal
  const handle = new Handle({ sessions, session: open, log: { session: id, retention: undefined }, closed })
  return new AgentSession(handle, undefined, onRequest, { requests: [], after: 0 })
}

const names = Object.keys(WRONG)
/** The number in the command of a request. */
const numberOf = (request: RequestOpened) => Number(/rm (\d+)/.exec(JSON.stringify(request))?.[1])
const valueFor = (request: RequestOpened) => WRONG[names[numberOf(request)] ?? '']

/** What a list of requests says besides the request. */
const ASKED = { agent: 'any', cwd: '/', seq: 1, at: 0 }

const FACES: Readonly<Record<string, Face>> = {
  session: { scene: local(({ session }, request, value) => session.answer(boundTo(request, value))) },
  'library answer': {
    scene: local((all, request, value) => librarySession(all).answer(request, untyped<Answer>(value))),
    author: { principal: 'local', client: 'library' },
  },
  'library callback': {
    scene: local(
      async () => undefined,
      (all) => void librarySession(all, (request) => untyped<Answer>(valueFor(request))),
    ),
    decides: true,
  },
  http: {
    scene: local(async ({ server, id }, { requestId, inputDigest }, value) => {
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
      const body = isObject ? { inputDigest, ...value } : value
      const route = `POST /v1/sessions/${id}/requests/${encodeURIComponent(requestId)}`
      const { status, body: problem } = await call(server, route, { body: body === undefined ? {} : body })
      if (status >= 400) throw Object.assign(new Error('refused'), { code: problem.code })
    }),
    author: { principal: 'owner', client: 'api' },
  },
  client: {
    scene: local(({ server, id }, { requestId, inputDigest }, value) => {
      const client = new MainstemClient({ baseUrl: server.url, token: TOKEN })
      const body = typeof value === 'object' && value !== null ? { inputDigest, ...value } : value
      return client.answer(id, requestId, untyped<RequestAnswer>(body))
    }),
    author: { principal: 'owner', client: 'api' },
  },
  ues: {
    scene: local(async ({ sessions, id }, { requestId, inputDigest, kind }, value) => {
      const canUseTool = untyped<CanUseTool>(async () => value)
      const decided = await decisionOf(canUseTool, kind, 'Bash', {}, { canonicalName: 'execute' })
      const identified = { requestId, inputDigest }
      const session = sessions.get(id)
      if ('failure' in decided) await session?.decline(identified, decided.failure)
      else await session?.answer({ type: 'answer', ...identified, ...decided })
    }),
    right: ['allow true'],
    decides: true,
  },
  rpc: {
    scene: local(({ session }, request, value) => {
      const text = typeof value === 'string' ? value : String(JSON.stringify(value))
      return session.answer({ ...answerIn(text, request), inputDigest: request.inputDigest })
    }),
    right: ['the word allow', 'a number'],
    decides: true,
  },
  // A value that is no answer is typed.
  terminal: {
    scene: local(async ({ session }, request, value) => {
      using desk = new Desktop()
      const asked = desk.ask(request, 100)
      await desk.pass()
      const keys = { allow: 'y', deny: 'n' }
      await desk.type(isDecision(value) ? keys[value.decision] : String(JSON.stringify(value)))
      await desk.pass()
      desk.over.abort()
      const answer = await asked
      if (!answer) throw Object.assign(new Error('not answered'), { code: 'not answered' })
      const author = { principal: 'owner', client: 'terminal' } as const
      await session.answer({ ...answer, ...author, inputDigest: request.inputDigest })
    }),
    author: { principal: 'owner', client: 'terminal' },
  },
  // A value that is no answer is given as the answer to a question that nobody asked.
  'command line': {
    scene: local(async ({ server, id }, request, value) => {
      const { requestId, inputDigest } = request
      // Without a digest, only the id is left to name it.
      const isNamed = typeof inputDigest === 'string'
      const reference = isNamed ? referenceOf({ ...ASKED, session: id, request }) : requestId
      const words = isDecision(value)
        ? [value.decision, reference]
        : ['answer', reference, String(JSON.stringify(value))]
      using _ = vi.spyOn(console, 'log').mockReturnValue()
      vi.stubEnv('MAINSTEM_TOKEN', TOKEN)
      const program = await commandLine('requests')
      await program.parseAsync(['requests', ...words, '--server', server.url], { from: 'user' })
    }),
    author: { principal: 'owner', client: 'terminal' },
  },
  'another node': {
    async scene(asking) {
      const { store, nodeOf } = cluster()
      const owner = await nodeOf('a', { agents: ASKING_AGENTS }).start()
      const other = await nodeOf('b', { agents: ASKING_AGENTS }).start()
      const policy = { approval: 'ask', sandbox: 'none' } as const
      const { id } = await owner.cluster.create({ agent: asking.agent, cwd: '/work', policy })
      const begun = await begin(owner.driver, asking, await owner.cluster.open(id))
      const routed = await other.cluster.open(id)
      return {
        ...begun,
        requests: async () => (await store.record(id))?.requests ?? [],
        log: () => store.read(id, 0, 10_000),
        give: (request, value) => routed.answer(boundTo(request, value)),
        [Symbol.asyncDispose]: async () => undefined,
      }
    },
  },
}

/** A decision that these tests give on purpose. */
function isDecision(value: unknown): value is { decision: 'allow' | 'deny' } {
  return value === ALLOW || value === DENY
}

const CELLS = ASKING.flatMap((asking) =>
  Object.entries(FACES).map(([name, face]) => [asking.agent, name, asking, face] as const),
)

const ALLOW = { decision: 'allow' }
const DENY = { decision: 'deny' }

/** Asks once for each subject, and waits for the requests. */
async function asked(asking: Asking, { run, log }: Scene, subjects: readonly string[]) {
  for (const [index, subject] of subjects.entries()) asking.permission.ask(run, index, subject)
  // OpenCode's requests wait for their calls until the next heartbeat.
  if (asking.agent === 'opencode') run.sayOn('sse', { type: 'server.heartbeat', properties: {} })
  const opened = async () =>
    (await log()).flatMap(({ event }) => (event.type === 'request.opened' ? [event] : []))
  await expect.poll(async () => (await opened()).length, { interval: 2 }).toBe(subjects.length)
  return opened()
}

const approvals = ({ permission }: Asking, { run }: Scene) =>
  run.written.map(textOf).filter(permission.approves).length

const resolved = async ({ log }: Scene) =>
  (await log()).flatMap(({ event }) => (event.type === 'request.resolved' ? [event] : []))

/** Gives an answer, and returns the code with which it was refused. */
const refusal = (given: Promise<unknown>) =>
  given.then(
    () => 'taken',
    (thrown) => String(thrown.code),
  )

test.each(CELLS)(
  '%s runs nothing for a value that is no answer, by %s',
  async (_agent, _name, asking, face) => {
    await using scene = await face.scene(asking)
    const wrong = names.filter((one) => !face.right?.includes(one))
    const subjects = names.map((_, index) => `rm ${index}`)
    const requests = await asked(asking, scene, subjects)
    const fates = new Map<string, string>()
    for (const request of requests) {
      const one = names[numberOf(request)] ?? ''
      if (wrong.includes(one)) fates.set(one, await refusal(scene.give(request, WRONG[one])))
    }
    if (face.decides) {
      // The face itself denies, because the agent waits for its decision.
      await expect.poll(async () => (await resolved(scene)).length, { interval: 2 }).toBe(wrong.length)
      expect((await resolved(scene)).filter(({ decision }) => decision !== 'deny')).toEqual([])
    } else {
      expect([...fates.values()].filter((fate) => fate === 'taken')).toEqual([])
      expect(await resolved(scene)).toEqual([])
      const [first] = requests
      if (first) await scene.give(first, ALLOW)
      expect(await resolved(scene)).toMatchObject([{ decision: 'allow', by: 'person', ...face.author }])
    }
    // The one approval is the one that was given as such, which shows that the count would find others.
    await expect.poll(() => approvals(asking, scene), { interval: 2 }).toBe(face.decides ? 0 : 1)
  },
)

const GIVEN = CELLS.filter(([, , , face]) => !face.decides)

test.each(GIVEN)('%s runs nothing for an answer that comes to another request, by %s', async (...cell) => {
  const [, , asking, face] = cell
  await using scene = await face.scene(asking)
  const [one, other] = await asked(asking, scene, ['rm 0', 'rm 1'])
  if (!one || !other) throw new Error('not asked')
  expect(await refusal(scene.give({ ...one, requestId: 'another' }, ALLOW))).toBe('request_not_found')
  expect(await refusal(scene.give({ ...one, inputDigest: other.inputDigest }, ALLOW))).toBe('conflict')
  expect(await refusal(scene.give({ ...one, inputDigest: '' }, ALLOW))).toBe('conflict')
  expect(await refusal(scene.give({ ...one, inputDigest: untyped<string>(undefined) }, ALLOW))).toBe(
    'invalid_request',
  )
  await scene.give(one, DENY)
  // Late: the first decision wins, over HTTP with the winner in the refusal.
  expect(await refusal(scene.give(one, ALLOW))).toMatch(/^(request_not_found|conflict)$/)
  scene.finish()
  await expect.poll(async () => (await scene.requests()).length, { interval: 2 }).toBe(0)
  // Withdrawn with its turn.
  expect(await refusal(scene.give(other, ALLOW))).toMatch(/^(request_not_found|conflict)$/)
  expect(approvals(asking, scene)).toBe(0)
})

test.each(ASKING.map((asking) => [asking.agent, asking] as const))(
  '%s runs nothing for an approval under the key of a denial',
  async (_agent, asking) => {
    const http = local(async ({ server, id }, { requestId, inputDigest }, decision) => {
      const route = `POST /v1/sessions/${id}/requests/${encodeURIComponent(requestId)}`
      const headers = { 'idempotency-key': 'one key' }
      return (await call(server, route, { body: { inputDigest, decision }, headers })).status
    })
    await using scene = await http(asking)
    const [request] = await asked(asking, scene, ['rm 0'])
    if (!request) throw new Error('not asked')
    const statuses = []
    for (const decision of ['deny', 'allow', 'deny']) statuses.push(await scene.give(request, decision))
    expect(statuses).toEqual([200, 422, 200])
    expect(approvals(asking, scene)).toBe(0)
  },
)
