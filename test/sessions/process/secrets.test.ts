import { expect, test } from 'vitest'
import { secretsFor } from '../../../src/mask/secrets.ts'
import type { FakeRun } from '../fake-driver.ts'
import { house } from '../house.ts'

const TOKEN = 'token-of-the-server-owner'
const parts = {
  secrets: [TOKEN],
  agentSettings: () => ({ env: { PROVIDER_KEY: 'configured-provider-key' } }),
}
const setup = { agent: { id: 'claude' }, options: { env: { MY_TOKEN: 'set-by-the-session' } } }

test('the text of another principal is not compared with the secrets of the server owner', () => {
  const { own = [], lent = [] } = secretsFor(setup, 'bob', parts)
  expect(new Set(own)).toEqual(new Set(['set-by-the-session']))
  expect(new Set(lent)).toEqual(new Set(['configured-provider-key']))
})

test('the server owner knows every secret of the server', () => {
  const { own = [], lent = [] } = secretsFor(setup, 'local', parts)
  expect(new Set(own)).toEqual(new Set(['configured-provider-key', TOKEN, 'set-by-the-session']))
  expect(lent).toEqual([])
})

/** The texts that the log has of a message which begins with this piece. */
async function loggedPieces(principal: string, protect: (run: FakeRun) => void, piece: string) {
  const { open, driver, log } = house()
  const session = await open({}, { principal })
  await session.prompt('go')
  const run = await driver.run()
  protect(run)
  const stream = (event: unknown) => ({ type: 'stream_event', event })
  run.say(
    { type: 'system', subtype: 'init', session_id: 'native-1', model: 'm', tools: [] },
    stream({ type: 'message_start', message: { id: 'm1', model: 'm' } }),
    stream({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    stream({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } }),
  )
  return async () =>
    (await log(session)).flatMap(({ event }) => (event.type === 'text.delta' ? event.text : []))
}

test('a key of the server that the agent inherits delays no text of another principal, and is masked', async () => {
  const key = 'sk-inherited-0123456789'
  const environment = { ANTHROPIC_API_KEY: key, LANG: 'a-value-that-is-no-key' }
  const pieces = await loggedPieces(
    'bob',
    (run) => run.context.protect?.({ environment }),
    `it is ${key}, begins sk-inh`,
  )
  await expect.poll(pieces).toEqual(['it is [masked 23], begins sk-inh'])
})

test.each(['bob', 'local'])(
  'a login generated for one run delays no text of %s, and is masked',
  async (principal) => {
    const login = 'generated-login-01234'
    const pieces = await loggedPieces(
      principal,
      (run) => run.context.protect?.({ environment: {}, login: [login] }),
      `it is ${login}, begins generated-l`,
    )
    await expect.poll(pieces).toEqual(['it is [masked 21], begins generated-l'])
  },
)
