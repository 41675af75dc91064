import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { generate } from 'orval'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fetchFrom } from '../gateway/api.ts'
import { startGateway, type TestGateway, TOKEN } from '../gateway/start.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const run = promisify(execFile)

/** What somebody writes who has nothing but the description of the API. Each line is also read by the compiler. */
const PROGRAM = `
import {
  type Page,
  callMethod,
  createBoardSession,
  createSession,
  deleteSession,
  followSession,
  getBoardSession,
  getSession,
  getUsage,
  sendPrompt,
} from './client.ts'

const init = { headers: { authorization: \`Bearer \${process.argv[2]}\` } }

const begun = await createSession({ agent: 'echo' }, init)
if (begun.status !== 201) throw new Error(begun.data.detail)
const { id } = begun.data
const prompted = await sendPrompt(id, { prompt: 'hello' }, init)
if (prompted.status !== 202) throw new Error(prompted.data.detail)
const { turn } = prompted.data
await followSession(id, { types: 'turn.completed', wait: 60 }, init)
const page = await followSession(id, { limit: 1000 }, init)
if (page.status !== 200 || !('stream' in page)) throw new Error('no page')
// The generator takes every answer that might be a stream for one.
const { entries = [] }: Page = JSON.parse(await page.stream.text())
const session = await getSession(id, init)
if (session.status !== 200) throw new Error(session.data.detail)
const usage = await getUsage(init)
if (usage.status !== 200) throw new Error('no usage')
const { turns } = usage.data.total

const onBoard = await createBoardSession({ agentType: 'echo', prompt: 'on the board' }, init)
if (onBoard.status !== 201) throw new Error(onBoard.data.detail)
const state = await getBoardSession(onBoard.data.id, init)
const health = await callMethod({ method: 'health.check' }, undefined, init)

await deleteSession(id, init)
const missing = await getSession(id, init)
if (missing.status !== 404) throw new Error('it is still there')
const { code, advice } = missing.data
// @ts-expect-error: the codes are a closed list.
if (code === 'no_such_code') throw new Error(advice)
const refused = await getSession(id)

console.log(
  JSON.stringify({
    turn,
    entries,
    outcome: session.data.lastOutcome,
    turns,
    state: state.status === 200 ? state.data.state : state.data.code,
    health: health.data,
    code,
    refused: refused.status === 401 && refused.data.code,
  }),
)
`

mkdirSync('.cache', { recursive: true })
const directory = mkdtempSync('.cache/generated-')
let server: TestGateway

beforeAll(async () => {
  server = await startGateway()
  const document = join(directory, 'openapi.json')
  writeFileSync(document, await (await fetchFrom(server, 'GET /openapi.json')).text())
  await generate({
    input: { target: resolve(document) },
    output: { target: resolve(directory, 'client.ts'), client: 'fetch', baseUrl: server.url },
  })
  writeFileSync(join(directory, 'program.ts'), PROGRAM)
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true })
  expect(server.reported).toEqual([])
})

describe('a client that was generated from the description', () => {
  it('and a program that uses it compile', async () => {
    const config = join(directory, 'tsconfig.json')
    const compilerOptions = { exactOptionalPropertyTypes: false, noUnusedLocals: false }
    writeFileSync(
      config,
      JSON.stringify({ extends: resolve('tsconfig.json'), compilerOptions, include: ['*.ts'] }),
    )
    const { stdout } = await run('node_modules/.bin/tsc', ['-p', config]).catch((failed) => failed)
    expect(stdout).toBe('')
  })

  it('begins a session, prompts it, reads its events, and knows its errors', async () => {
    const { stdout } = await run(process.execPath, [join(directory, 'program.ts'), TOKEN])
    const told = JSON.parse(stdout)
    expect(told).toMatchObject({
      turn: 1,
      outcome: 'completed',
      turns: 1,
      health: { result: { ok: true } },
      code: 'session_not_found',
      refused: 'unauthorized',
    })
    expect(['running', 'done']).toContain(told.state)
    const events = told.entries.map(({ event }: { event: { type: string } }) => event.type)
    expect(events).toEqual(['session.started', 'turn.started', 'text.completed', 'turn.completed'])
    expect(told.entries[2].event).toMatchObject({ text: 'hello' })
  })
})
