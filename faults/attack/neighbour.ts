import { Agent, get } from 'node:http'

export interface Times {
  p50: number
  p99: number
  /** What was not answered with 200. */
  failures: string[]
}

const PAUSE_MS = 5

/** Lists the sessions of a principal again and again, on one connection, as a client that polls does. */
export async function measure(url: string, token: string, seconds: number): Promise<Times> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  const failures: string[] = []
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    const begin = performance.now()
    const failure = await list(url, token, agent)
    times.push(performance.now() - begin)
    if (failure !== undefined) failures.push(failure)
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  agent.destroy()
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0
  return { p50: at(0.5), p99: at(0.99), failures }
}

export const ms = (time: number) => time.toFixed(1)

function list(url: string, token: string, agent: Agent): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const request = get(`${url}/v1/sessions`, { agent, headers: { authorization: `Bearer ${token}` } })
  request.on('error', (thrown) => resolve(thrown.message))
  request.on('response', (response) => {
    response.resume()
    const { statusCode } = response
    response.on('close', () => resolve(statusCode === 200 ? undefined : `status ${statusCode}`))
  })
  return promise
}
