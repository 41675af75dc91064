import { setImmediate } from 'node:timers/promises'
import { type TestGateway, TOKEN } from '../start.ts'

/** Polls that are under way at the same time. */
const AT_ONCE = 10

export interface Polled {
  polls: number
  /** Status and text of every answer but a page. */
  wrong: string[]
}

/** Prompts one echo session again and again, and polls its board events around every prompt. */
export async function pollAroundPrompts(server: TestGateway, rounds: number): Promise<Polled> {
  const id = await begin(server)
  const polled: Polled = { polls: 0, wrong: [] }
  const poll = async () => {
    const response = await get(server, `/api/sessions/${id}/events?limit=10000`)
    const text = await response.text()
    polled.polls++
    if (!response.ok) polled.wrong.push(`${response.status} ${text}`)
  }
  for (let round = 0; round < rounds; round++) {
    const prompted = post(server, `/v1/sessions/${id}/turns`, { prompt: `prompt ${round}` })
    const polls: Promise<void>[] = []
    for (let index = 0; index < AT_ONCE; index++) {
      polls.push(poll())
      await setImmediate()
    }
    await Promise.all([prompted, ...polls])
  }
  return polled
}

async function begin(server: TestGateway): Promise<string> {
  const response = await post(server, '/v1/sessions', { agent: 'echo', prompt: 'first' })
  return String(Object(await response.json()).id)
}

const authorization = `Bearer ${TOKEN}`

const get = (server: TestGateway, path: string) => fetch(server.url + path, { headers: { authorization } })

function post(server: TestGateway, path: string, body: object): Promise<Response> {
  const headers = { authorization, 'content-type': 'application/json' }
  return fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
}
