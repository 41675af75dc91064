import { afterEach, expect, test } from 'vitest'
import { type Token, tokenOf } from '../../../src/gateway/http/auth.ts'
import { begin } from '../api.ts'
import { script, text } from '../puppet.ts'
import { GUEST, startGateway, type TestGateway, TOKEN } from '../start.ts'
import { SocketReader } from '../streams/socket.ts'
import { StreamReader } from '../streams/sse.ts'

let server: TestGateway | undefined
afterEach(async () => {
  await server?.[Symbol.asyncDispose]()
  server = undefined
})

const OWNER = tokenOf('owner', TOKEN)
const waiting = script(text('m1', 'one'), { ...text('m2', 'two'), wait: true })

/** How a stream ends that is cut off. */
const cut = (stream: StreamReader) =>
  stream.whole().then(
    () => 'whole',
    () => 'cut off',
  )

const changes: [string, Token[]][] = [
  ['removed', [OWNER]],
  ['replaced', [OWNER, tokenOf('guest', 'another-token')]],
]

test.each(changes)('streams of a token that was %s end, and those of others stay', async (_, after) => {
  const first = [OWNER, tokenOf('guest', GUEST)]
  let tokens: readonly Token[] = first
  let checked = Promise.withResolvers<void>()
  server = await startGateway({
    tokens: async () => {
      checked.resolve()
      return tokens
    },
  })
  const { url } = server
  const as = (token: string) => ({ authorization: `Bearer ${token}`, accept: 'text/event-stream' })
  const [mine, theirs] = [await begin(server), await begin(server, {}, { token: GUEST })]
  const follow = async (path: string, token: string) =>
    new StreamReader(await fetch(url + path, { headers: as(token) }))
  const kept = await follow(`/v1/sessions/${mine}/events`, TOKEN)
  const streams = [
    await follow(`/v1/sessions/${theirs}/events`, GUEST),
    await follow('/v1/events', GUEST),
    new StreamReader(await server.execute({ driver: 'puppet', task: waiting, auth_token: GUEST })),
  ]
  const socket = await new SocketReader(server, `/v1/sessions/${theirs}/events`, { token: GUEST }).open()
  // The first check after a request is admitted learns its token.
  checked = Promise.withResolvers()
  await checked.promise
  tokens = after
  expect(await Promise.all(streams.map(cut))).toEqual(['cut off', 'cut off', 'cut off'])
  expect(await socket.closed).toEqual({ code: 4401, reason: 'the token was removed' })
  const again = await fetch(`${url}/v1/sessions/${theirs}/events`, { headers: as(GUEST) })
  expect(again.status).toBe(401)
  expect(server.deps.streams.open).toBe(1)
  const ended = kept.whole()
  await server.sessions.get(mine)?.end()
  expect(await ended).toContain('session.ended')
})
