import { request } from 'node:http'
import { connect } from 'node:net'
import { text as bodyOf } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { printableJson } from '../../src/cli/render/printable.ts'
import { ServerLog } from '../../src/daemon/server-log.ts'
import type { RequestScope } from '../../src/gateway/http/request-scope.ts'
import type { AccessLine } from '../../src/gateway/http/server-stats.ts'
import { MainstemError } from '../../src/model/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { fetchFrom } from './api.ts'
import { startGateway, TOKEN } from './start.ts'
import { SocketReader } from './streams/socket.ts'

const MISSING = '00000000-0000-4000-8000-000000000000'
const ID = 'proxy-42'
const headers = { 'x-request-id': ID, 'content-type': 'application/json' }

/** Errors of every face: the request, its status, and the code in the access log. */
const ERRORS: readonly [what: string, route: string, body: object | string | undefined, code: string][] = [
  ['HTTP', `GET /v1/sessions/${MISSING}`, undefined, 'session_not_found'],
  ['an unknown path', 'GET /v1/nowhere', undefined, 'not_found'],
  ['a wrong method', 'DELETE /v1/search', undefined, 'not_found'],
  ['a body that is no object', 'POST /v1/sessions', 'text', 'invalid_request'],
  ['execute', 'POST /v1/execute', { task: 7 }, 'invalid_request'],
]

test.each(ERRORS)(
  'an error of %s has the id of its request, and the access log its code',
  async (_, route, body, code) => {
    const lines: AccessLine[] = []
    await using server = await startGateway({ access: (line) => lines.push(line) })
    const response = await fetchFrom(server, route, {
      headers,
      ...(body !== undefined && { body }),
    })
    expect(response.headers.get('x-request-id')).toBe(ID)
    expect(await response.json()).toMatchObject({ code, requestId: ID })
    await expect.poll(() => lines).toMatchObject([{ requestId: ID, status: response.status, code }])
  },
)

test('an error of JSON-RPC has the id of its request, and the access log its code beside the status 200', async () => {
  const lines: AccessLine[] = []
  await using server = await startGateway({ access: (line) => lines.push(line) })
  for (const body of [{ id: 1, method: 'nothing' }, { id: 2 }, 'no call']) {
    const response = await fetchFrom(server, 'POST /rpc', { headers, body })
    expect(await response.json()).toMatchObject({ error: { data: { requestId: ID } } })
  }
  await expect
    .poll(() => lines.map(({ status, code }) => [status, code]))
    .toEqual([
      [200, 'not_found'],
      [200, 'invalid_request'],
      [200, 'invalid_request'],
    ])
})

test('an upgrade that is refused has the id of its request', async () => {
  await using server = await startGateway()
  const socket = new SocketReader(server, `/v1/sessions/${MISSING}/events`, { headers })
  const refused = new Promise<[string | undefined, unknown]>((resolve) =>
    socket.socket.once('unexpected-response', (_, response) =>
      bodyOf(response).then((body) => resolve([String(response.headers['x-request-id']), JSON.parse(body)])),
    ),
  )
  expect(await refused).toEqual([ID, expect.objectContaining({ requestId: ID })])
})

test('what is no HTTP, and a URL that cannot be read, get an id too', async () => {
  await using server = await startGateway()
  const socket = connect(server.port, '127.0.0.1').end('NONSENSE\r\n\r\n')
  const [head = '', body = ''] = (await bodyOf(socket)).split('\r\n\r\n')
  const [, id] = /^x-request-id: (\S+)$/m.exec(head) ?? []
  expect(JSON.parse(body)).toMatchObject({ requestId: id })
  const call = request({
    port: server.port,
    path: '/v1/sessions/%zz',
    headers: { ...headers, authorization: `Bearer ${TOKEN}` },
  })
  const answer = await new Promise<string>((resolve) =>
    call.once('response', (response) => resolve(bodyOf(response))).end(),
  )
  expect(JSON.parse(answer)).toMatchObject({ requestId: ID })
})

test('an error of the server is in its log with the request that it failed, on every face', async () => {
  const lines: string[] = []
  const log = new ServerLog((line) => lines.push(printableJson(line)))
  const store = memoryStore()
  store.records = async () => {
    throw new MainstemError('storage_failed', 'the disk\nis full')
  }
  await using server = await startGateway({ store, report: log.report })
  await fetchFrom(server, 'GET /v1/sessions?limit=1', { headers })
  await fetchFrom(server, 'POST /rpc', { headers, body: { method: 'session.list' } })
  const failed = lines.map((line): RequestScope & { level: string } => JSON.parse(line))
  const expected = { level: 'error', requestId: ID, principal: 'owner', code: 'storage_failed' }
  expect(failed).toMatchObject([
    { ...expected, method: 'GET', path: '/v1/sessions', message: 'the disk\nis full' },
    { ...expected, method: 'POST', path: '/rpc' },
  ])
  expect(lines.every((line) => !line.includes('\n'))).toBe(true)
})

test('an error outside of a request has none', async () => {
  const lines: string[] = []
  new ServerLog((line) => lines.push(printableJson(line))).report(new TypeError('broken'))
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    time: expect.any(String),
    level: 'error',
    message: 'broken',
    stack: expect.stringContaining('TypeError: broken'),
  })
})
