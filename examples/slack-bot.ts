// Posts every open request of a Mainstem server to a Slack channel and sends the button that is clicked as the answer:
// node examples/slack-bot.ts, with the variables below. A project that has the package installed imports from
// 'mainstem/client'.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { escapeInvisible, MainstemClient, MainstemError } from '../src/client/index.ts'
import { type ButtonChoice, blocksOf, type SlackRequest } from './slack-message.ts'

const { env } = process
const slackApi = env.SLACK_API ?? 'https://slack.com/api'
const slackToken = required('SLACK_BOT_TOKEN')
const signingSecret = required('SLACK_SIGNING_SECRET')
const channel = required('SLACK_CHANNEL')
const client = new MainstemClient({
  baseUrl: env.MAINSTEM_URL ?? 'http://127.0.0.1:7380',
  ...(env.MAINSTEM_TOKEN !== undefined && { token: env.MAINSTEM_TOKEN }),
})

/** Messages by request, so that each request is posted once and its message can be updated. */
const messages = new Map<string, Promise<string>>()
const keyOf = (session: string, requestId: string) => `${session}/${requestId}`

function required(name: string): string {
  const value = env[name]
  if (value === undefined) throw new Error(`Set ${name}.`)
  return value
}

async function slack(method: string, body: object): Promise<{ ts: string }> {
  const response = await fetch(`${slackApi}/${method}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${slackToken}`, 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ channel, ...body }),
  })
  const result: { ok?: boolean; error?: string; ts?: string } = JSON.parse(await response.text())
  if (!result.ok || result.ts === undefined) throw new Error(`Slack ${method} failed: ${result.error}`)
  return { ts: result.ts }
}

function post(session: string, request: SlackRequest): void {
  const key = keyOf(session, request.requestId)
  if (messages.has(key) || (request.answeredBy ?? 'person') !== 'person') return
  const text = `Agent request: ${escapeInvisible(request.title ?? request.kind)}`
  const sent = slack('chat.postMessage', { text, blocks: blocksOf(session, request) })
  messages.set(
    key,
    sent.then(({ ts }) => ts),
  )
  sent.catch((thrown: unknown) => {
    messages.delete(key)
    console.error(thrown)
  })
}

/** Replaces the buttons by the decision, also when another client made it. */
async function settle(session: string, requestId: string, outcome: string): Promise<void> {
  const ts = await messages.get(keyOf(session, requestId))
  if (ts === undefined) return
  messages.delete(keyOf(session, requestId))
  await slack('chat.update', { ts, text: outcome, blocks: [] })
}

async function follow(): Promise<never> {
  for (;;) {
    try {
      const live = client.live({ types: ['request.opened', 'request.resolved', 'request.withdrawn'] })
      // The stream is opened before the list is read, so that no request falls between the two.
      const first = live.next()
      for (const { session, request } of await client.requests()) post(session, request)
      for (let next = await first; !next.done; next = await live.next()) {
        const { session, event } = next.value
        if (event.type === 'request.opened') post(session, event)
        if (event.type === 'request.resolved') await settle(session, event.requestId, event.decision)
        if (event.type === 'request.withdrawn') await settle(session, event.requestId, 'withdrawn')
      }
    } catch (thrown) {
      // The server restarted: its open requests are listed again.
      if (!(thrown instanceof MainstemError && thrown.code === 'cursor_gone')) throw thrown
    }
  }
}

/** Slack signs the time and the body; a request that is older than five minutes may be a replay. */
function isSigned(timestamp: string, signature: string, body: string): boolean {
  if (Math.abs(Date.now() / 1_000 - Number(timestamp)) > 300) return false
  const expected = `v0=${createHmac('sha256', signingSecret).update(`v0:${timestamp}:${body}`).digest('hex')}`
  return (
    signature.length === expected.length && timingSafeEqual(Buffer.from(signature), Buffer.from(expected))
  )
}

async function answer(body: string): Promise<void> {
  const payload: { user: { id: string }; actions: { value: string }[] } = JSON.parse(
    new URLSearchParams(body).get('payload') ?? '{}',
  )
  for (const { value } of payload.actions) {
    const { session, requestId, answer: given }: ButtonChoice = JSON.parse(value)
    await client.answer(session, requestId, given)
    console.log(`${payload.user.id} ${given.decision} ${requestId}`)
  }
}

const server = createServer(async (request, response) => {
  const body = await text(request)
  const header = (name: string) => String(request.headers[name] ?? '')
  const valid = isSigned(header('x-slack-request-timestamp'), header('x-slack-signature'), body)
  // Slack expects its response within three seconds, so the answer is sent afterwards.
  response.writeHead(valid ? 200 : 401).end()
  // `conflict`: another client answered first. The live stream updates the message.
  if (valid) await answer(body).catch((thrown: unknown) => console.error(String(thrown)))
})
server.listen(Number(env.PORT ?? 3000), '127.0.0.1', () => {
  const address = server.address()
  console.log(`listening on http://127.0.0.1:${typeof address === 'object' ? address?.port : address}`)
})
await follow()
