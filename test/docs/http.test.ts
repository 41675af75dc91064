import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { endpointsOf } from '../../src/gateway/routes.ts'
import { TestGateway } from '../gateway/start.ts'
import { parseEvents } from '../gateway/streams/sse.ts'
import { pageServer } from './page-server.ts'
import { blocksOf, pages } from './pages.ts'

const run = promisify(execFile)
const page = pages.find(({ path }) => path === 'docs/http.md') ?? { path: '', text: '' }
const blocks = blocksOf(page)

const server = pageServer()

async function shell(command: string): Promise<string> {
  const here = command.replaceAll('http://127.0.0.1:7380', server.url)
  return (await run('bash', ['-c', here], { env: { PATH: process.env.PATH } })).stdout
}

/** The value with every number and every id made equal. */
const shapeOf = (value: object) =>
  Object.fromEntries(Object.entries(value).map(([key, one]) => [key, key === 'agent' ? one : typeof one]))

describe('the page on HTTP', () => {
  it('shows a first session that works as it says', async () => {
    const [begin = '', more = ''] = blocks
      .filter(({ language, text }) => language === 'sh' && text.includes('curl '))
      .map(({ text }) => text)
    const shown = blocks.find(({ language }) => language === 'json')?.text ?? '{}'
    const answer = await shell(begin)
    expect(shapeOf(JSON.parse(answer))).toEqual(shapeOf(JSON.parse(shown)))
    expect(await shell(begin)).toBe(answer)
    const output = await shell(more)
    expect(output).toContain('{"turn":2}')
    const said = parseEvents(output.slice(output.indexOf('id: '))).map(({ data }) => data.event)
    expect(said[0]).toMatchObject({ text: 'hello' })
  })

  it('shows a problem in the words of the server', async () => {
    const problem = blocks.filter(({ language }) => language === 'json').at(-1)?.text ?? '{}'
    const shown = JSON.parse(problem)
    const headers = { 'x-request-id': shown.requestId }
    expect(await (await fetch(`${server.url}/v1/sessions/x`, { headers })).json()).toEqual(shown)
  })

  it('lists every route, and no other', () => {
    const table = page.text.split('## Routes')[1]?.split('\n## ')[0] ?? ''
    const listed = [...table.matchAll(/`((?:GET|POST|DELETE) [^`]+)`/g)].map(([, route]) => route)
    const gateway = new TestGateway({})
    const routes = endpointsOf(gateway.deps).map(({ method, url }) => `${method} ${url}`)
    rmSync(gateway.root, { recursive: true })
    expect(listed.sort()).toEqual(routes.sort())
  })
})
