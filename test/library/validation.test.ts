import { afterAll, expect, test } from 'vitest'
import * as z from 'zod'
import { type AgentSession, mainstem } from '../../src/index.ts'

const stem = mainstem()
afterAll(() => stem.close())

/** Passes a value as a type that it does not have, as JavaScript would. */
const untyped = <T>(value: unknown): T => value as T

type Options = Parameters<typeof stem.session>[0]
const session = (more: object = {}) => stem.session(untyped<Options>({ agent: 'echo', cwd: '/', ...more }))

const refused = (message: string | RegExp) => ({
  code: 'invalid_request',
  message: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
})

test.each([undefined, null, '', 1, ['x'], {}])('a prompt that is %j is refused at once', async (prompt) => {
  const open = await session()
  const turn = open.prompt(untyped<string>(prompt))
  await expect(turn.result()).rejects.toMatchObject(refused(/^prompt: /))
  await expect(turn[Symbol.asyncIterator]().next()).rejects.toMatchObject(refused(/^prompt: /))
  await expect(open.steer(untyped<string>(prompt))).rejects.toMatchObject(refused(/^prompt: /))
  expect((await open.prompt('works').result()).text).toBe('works')
})

test.each<[string, (open: AgentSession) => Promise<unknown>, string]>([
  [
    'prompt',
    (open) => open.prompt('x', untyped({ abortSignal: AbortSignal.abort() })).result(),
    'did you mean "signal"?',
  ],
  ['prompt', (open) => open.prompt('x', untyped({ image: [] })).result(), 'did you mean "images"?'],
  [
    'prompt',
    (open) => open.prompt('x', untyped({ signal: 'now' })).result(),
    'signal: must be an AbortSignal',
  ],
  ['setModel', (open) => open.setModel(untyped(undefined)), 'model: '],
  ['rename', (open) => open.rename('two words'), 'a name begins with a letter'],
  ['setMode', (open) => open.setMode(untyped(7)), 'mode: '],
  ['answer', (open) => open.answer(untyped(undefined), { decision: 'deny' }), 'request: '],
])('%s refuses what it does not know', async (_name, act, message) => {
  await expect(act(await session())).rejects.toMatchObject(refused(message))
})

test.each<[string, object, string]>([
  ['a missing directory', { cwd: undefined }, 'cwd: is required'],
  ['an empty directory', { cwd: '' }, 'cwd: '],
  [
    'a misspelled callback',
    { onrequest: () => undefined },
    'onrequest: unknown field; did you mean "onRequest"?',
  ],
  ['a callback that is none', { onRequest: 'allow' }, 'onRequest: must be a function'],
  ['a misspelled policy', { policy: { aproval: 'ask' } }, 'did you mean "approval"?'],
  ['an unknown approval', { policy: { approval: 'never' } }, 'policy.approval: must be one of'],
  ['a misspelled option', { options: { modell: 'm' } }, 'did you mean "model"?'],
  ['a schema that is none', { output: 'json' }, 'output: must be a Standard Schema'],
  ['a schema that is null', { output: null }, 'output: must be a Standard Schema'],
])('a session with %s is refused', async (_name, more, message) => {
  await expect(session(more)).rejects.toMatchObject(refused(message))
})

test.each<[object, string]>([
  [{ agent: {} }, 'did you mean "agents"?'],
  [{ timeouts: { startMS: 1 } }, 'did you mean "startMs"?'],
  [{ agents: { claude: { comand: ['x'] } } }, 'did you mean "command"?'],
])('mainstem(%j) is refused', (options, message) => {
  expect(() => mainstem(untyped(options))).toThrow(message)
})

test('a plain JSON Schema reaches the agent as a schema of zod does', async () => {
  const plain = { type: 'object', properties: { ok: { type: 'boolean' } } }
  const codes = await Promise.all(
    [plain, z.object({ ok: z.boolean() })].map((output) =>
      session({ output }).then(
        () => 'taken',
        (thrown) => thrown.code,
      ),
    ),
  )
  // The echo agent has no structured output: both are refused for the same reason, and neither throws a TypeError.
  expect(codes).toEqual(['unsupported_option', 'unsupported_option'])
})
