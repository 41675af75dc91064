import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { Load } from '../../faults/crash/load.ts'
import { request, type Target } from '../../faults/crash/target.ts'
import { randomFrom } from '../../faults/random.ts'

const ROOM = 3
const SETTINGS = { agents: [['claude', 'live']], scripts: ['say'], open: 2 } as const

/** Has room for a few sessions, and dies at the first request to end each one. */
class FullServer {
  readonly open = new Set<string>()
  readonly #sessions = new Map<unknown, string>()
  readonly #asked = new Set<string>()

  answer({ method = '', url = '', headers, socket }: IncomingMessage, response: ServerResponse): void {
    const send = (status: number, body: unknown) => response.writeHead(status).end(JSON.stringify(body))
    const [, id = '', last] = /^\/v1\/sessions\/([^/]+)\/?(\w*)/.exec(url) ?? []
    if (method === 'POST' && url === '/v1/sessions') {
      const known = this.#sessions.get(headers['idempotency-key'])
      if (known === undefined && this.open.size === ROOM) send(429, {})
      else send(201, { id: known ?? this.#create(headers['idempotency-key']) })
    } else if (method === 'DELETE' || last === 'end') {
      if (!this.#asked.has(id)) socket.destroy()
      else send(200, {})
      if (this.#asked.has(id)) this.open.delete(id)
      this.#asked.add(id)
    } else if (last === 'turns') send(202, { turn: 2 })
    else if (last === 'events' && headers.accept === 'application/json')
      send(200, { entries: [{ seq: 1, event: { type: 'session.ended' } }] })
    else response.writeHead(200).end()
  }

  #create(key: unknown): string {
    const id = `session-${this.#sessions.size}`
    this.#sessions.set(key, id)
    this.open.add(id)
    return id
  }
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it('closes sessions whose server died before it confirmed, so that those that a full server refused begin', async () => {
  const full = new FullServer()
  const url = await listen(createServer((asked, response) => full.answer(asked, response)))
  const target: Target = {
    principals: new Map([['ada', {}]]),
    url: Promise.resolve(url),
    call: (route, body, headers) => request(url, route, body, headers),
  }
  const load = new Load(target, randomFrom(1), SETTINGS)
  for (let life = 0; life < 4; life++) await load.press(2)
  await load.conclude()
  expect(load.conversations).toHaveLength(8)
  expect(load.unfinished).toEqual([])
})
