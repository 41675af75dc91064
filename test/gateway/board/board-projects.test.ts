import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { call } from '../api.ts'
import { startGateway, type TestGateway } from '../start.ts'

let server: TestGateway
beforeEach(async () => {
  server = await startGateway()
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.reported).toEqual([])
})

const post = (body: unknown) => call(server, 'POST /api/sessions', { body })
const get = (path: string) => call(server, `GET /api/sessions${path}`)
const config = (more: object) => ({ agentType: 'echo', prompt: 'x', config: more })
const settled = (id: string) => server.sessions.get(id)?.settled(1)
const record = async (id: string) => (await call(server, `GET /v1/sessions/${id}`)).body

describe('a project on a server without configured projects', () => {
  const label = 'my-project'

  test.each([
    ['of the board', { agentId: 'echo', projectId: label, prompt: 'x' }],
    ['of the unified protocol', { agentType: 'echo', config: { projectId: label }, prompt: 'x' }],
  ])('is a label in the body %s: stored, echoed, and without a directory', async (_, body) => {
    const begun = await post(body)
    expect(begun, JSON.stringify(begun.body)).toMatchObject({ status: 201, body: { state: 'running' } })
    const id = String(begun.body.id)
    await settled(id)
    expect(await record(id)).toMatchObject({ project: label, cwd: server.root })
    expect((await get(`/${id}`)).body).toMatchObject({ agentId: 'echo', projectId: label })
    const { events } = (await get(`/${id}/events?dialect=unified`)).body
    expect(events).toMatchObject([{ type: 'sessionStarted', config: { projectId: label } }, {}, {}, {}, {}])
  })

  test('is compared when the session continues', async () => {
    const again = (config: object, sessionId: unknown) =>
      post({ agentType: 'echo', prompt: 'x', sessionId, config })
    const { id } = (await post({ agentId: 'echo', projectId: label, prompt: 'x' })).body
    expect(await again({ projectId: label }, id)).toMatchObject({ status: 201 })
    expect(await again({}, id)).toMatchObject({ status: 201 })
    const other = await again({ projectId: 'another' }, id)
    expect(other).toMatchObject({ status: 422, body: { field: 'config.projectId' } })
  })
})

describe('a configured project', () => {
  test('is the directory that a session works in', async () => {
    const directory = join(server.root, 'mine')
    mkdirSync(directory)
    await using other = await startGateway({ projects: { mine: directory }, roots: [server.root] })
    const body = { agentId: 'echo', projectId: 'mine', prompt: 'x' }
    const { id } = (await call(other, 'POST /api/sessions', { body })).body
    expect((await call(other, `GET /v1/sessions/${id}`)).body.cwd).toBe(directory)
  })

  test.each([
    ['an unknown project', { agentId: 'echo', projectId: 'none', prompt: 'x' }],
    ['a project named like a property', config({ projectId: 'constructor' })],
  ])('refuses %s', async (_, body) => {
    await using other = await startGateway({ projects: { mine: server.root }, roots: [server.root] })
    const answer = await call(other, 'POST /api/sessions', { body })
    expect(answer).toMatchObject({ status: 404, body: { field: 'projectId' } })
    expect(answer.body.detail).toContain('known projects: mine')
    expect((await call(other, 'GET /api/sessions')).body.sessions).toEqual([])
  })

  test('refuses a directory outside of it', async () => {
    mkdirSync(join(server.root, 'mine'))
    await using other = await startGateway({
      projects: { mine: join(server.root, 'mine') },
      roots: [server.root],
    })
    const body = config({ projectId: 'mine', workingDirectory: server.root })
    expect(await call(other, 'POST /api/sessions', { body })).toMatchObject({ status: 403 })
  })
})
