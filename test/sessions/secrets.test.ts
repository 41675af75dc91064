import { expect, test } from 'vitest'
import { secretsFor } from '../../src/sessions/secrets.ts'
import { house } from './house.ts'

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

test('a key of the server that the agent inherits delays no text of another principal, and is masked', async () => {
  const key = 'sk-inherited-0123456789'
  const { open, driver, log } = house()
  const session = await open({}, { principal: 'bob' })
  await session.prompt('go')
  const run = await driver.run()
  run.context.protect?.([], { ANTHROPIC_API_KEY: key, LANG: 'a-value-that-is-no-key' })
  const part = (text: string) => ({
    type: 'stream_event',
    event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
  })
  const start = { type: 'stream_event', event: { type: 'message_start', message: { id: 'm1', model: 'm' } } }
  run.say({ type: 'system', subtype: 'init', session_id: 'native-1', model: 'm', tools: [] }, start)
  const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
  run.say({ type: 'stream_event', event: block })
  run.say(part(`it is ${key}, begins sk-inh`))
  await expect
    .poll(async () =>
      (await log(session)).flatMap(({ event }) => (event.type === 'text.delta' ? event.text : [])),
    )
    .toEqual(['it is [masked 23], begins sk-inh'])
})
