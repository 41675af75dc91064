import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../src/daemon/config.ts'
import { serve } from '../../src/daemon/serve.ts'
import {
  type OfflineProgram,
  offlineEnvironment,
  scriptedModel,
  writeOfflineFiles,
} from '../../src/testing/index.ts'

/**
 * Shows the faces with a real program behind a scripted model: `node test/faces/real-cli.ts <agent> <program> [more…]`
 * prints what clients of the daemon and of the board see, and fails where it is not what they were promised.
 */
const AGENTS: readonly OfflineProgram[] = ['claude', 'codex', 'gemini', 'opencode']
const [name, ...command] = process.argv.slice(2)
const agent = AGENTS.find((one) => one === name)
if (agent === undefined || command.length === 0) throw new Error(`${AGENTS.join(', ')}, and its program?`)

const home = await mkdtemp(join(tmpdir(), 'faces-'))
const cwd = join(home, 'work')
await mkdir(cwd)
await using model = await scriptedModel()
const offline = offlineEnvironment(agent, model, home)
await writeOfflineFiles(offline)
const env = { ...offline.env, PATH: process.env.PATH ?? '' }
const agents = { [agent]: { command, env } }
const ceiling = { approval: 'auto-all', sandbox: 'full-access' }
await writeFile(join(home, 'config.json'), JSON.stringify({ agents, ceiling }))
const config = await loadConfig({
  flags: { port: 0, data: home, cwd, auth: false },
  environment: { MAINSTEM_HOME: home, ...env },
  cwd,
})
const server = await serve({ config, report: console.error })

type Emitted = Record<string, unknown>

const prompt = (scenario: string) => `SCENARIO:${scenario} CWD:${cwd} Please do what the script says.`

async function post(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  console.log(`\n> POST ${path} ${JSON.stringify(body)}`)
  return fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  })
}

async function rpc(method: string, params: object = {}): Promise<Emitted> {
  const answer = (await (await post('/rpc', { method, params })).json()) as { result?: Emitted }
  console.log(JSON.stringify(answer))
  assert(answer.result, `${method} failed`)
  return answer.result
}

/** A whole exchange; `during` sees what was said so far, and may leave with the function it is given. */
async function send(
  sessionId: string,
  message: string,
  during: (said: readonly Emitted[], leave: () => void) => void = () => undefined,
): Promise<Emitted[]> {
  const gone = new AbortController()
  const said: Emitted[] = []
  const call = { method: 'session.send', params: { sessionId, message } }
  const response = await post('/rpc', call, gone.signal)
  let text = ''
  try {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        console.log(block)
        if (block !== 'data: [DONE]') said.push(JSON.parse(block.slice('data: '.length)))
      }
      during(said, () => gone.abort())
    }
    assert.equal(text, '')
  } catch (thrown) {
    if (!gone.signal.aborted) throw thrown
    console.log('(left)')
  }
  return said
}

const types = (said: readonly Emitted[]) => said.map(({ type }) => type)
const texts = (said: readonly Emitted[]) =>
  said.flatMap(({ type, content }) => (type === 'text' ? [content] : [])).join('')

/** Settles when the session does nothing any more. */
async function rest(sessionId: string): Promise<void> {
  for (;;) {
    const { sessions } = (await rpc('session.list')) as { sessions: Emitted[] }
    if (sessions.some((one) => one.sessionId === sessionId && one.status !== 'busy')) return
    await once(AbortSignal.timeout(500), 'abort')
  }
}

/** A session of the daemon: an answer, a permission that is given, a client that leaves, a queue that is dropped. */
async function onDaemon(): Promise<void> {
  const { sessionId: id } = await rpc('session.create', { path: cwd, cli_type: agent, mode: 'ask' })
  const sessionId = String(id)
  const answer = await send(sessionId, prompt('text'))
  assert.equal(types(answer)[0], 'system')
  assert.equal(texts(answer), 'Hello from the scripted model. This text comes in several pieces.')
  assert.equal(types(answer).at(-1), 'result')

  const asked = await send(sessionId, prompt('permission'))
  assert.equal(asked.at(-2)?.tool, 'AskUserQuestion')
  const allowed = await send(sessionId, 'Allow')
  assert.deepEqual([types(allowed)[0], types(allowed).at(-1)], ['system', 'result'])

  const half = await send(sessionId, prompt('text'), (said, leave) => {
    if (types(said).includes('system')) leave()
  })
  await rest(sessionId)
  const missed = (await rpc('session.reconnect', { sessionId })).bufferedEvents as Emitted[]
  // An answer may be there at once, and then nothing was missed.
  const wasWhole = types(half).at(-1) === 'result'
  assert.deepEqual(missed.slice(0, half.length), wasWhole ? [] : half)
  if (!wasWhole) assert.equal(types(missed).at(-1), 'result')

  const stopped = await send(sessionId, prompt('long'), (said) => {
    if (types(said).includes('partial')) void stop(sessionId)
  })
  assert.equal(types(stopped).at(-1), 'interrupted')
  const after = await send(sessionId, prompt('text'))
  assert.equal(types(after).at(-1), 'result')
  await rpc('session.resume', { sessionId })
  await rpc('session.destroy', { sessionId })
}

let stopping = false
async function stop(sessionId: string): Promise<void> {
  if (stopping) return
  stopping = true
  assert.deepEqual(types(await send(sessionId, prompt('text'))), ['queued'])
  assert.deepEqual(await rpc('session.interrupt', { sessionId }), { ok: true, interrupted: true })
}

async function onBoard(scenario: string, dialect: string, after: string): Promise<string> {
  const body = {
    agentType: agent,
    prompt: prompt(scenario),
    config: { approvalMode: 'autoAll', sandboxMode: 'fullAccess' },
  }
  const { id } = (await (await post('/api/sessions', body)).json()) as { id: string }
  const path = `/ws/sessions/${id}?dialect=${dialect}`
  console.log(`\n> WS ${path}`)
  const socket = new WebSocket(server.url.replace('http', 'ws') + path)
  socket.onmessage = ({ data }) => {
    console.log(data)
    if (after !== '' && String(data).includes(after)) void post(`/api/sessions/${id}/cancel`, {})
  }
  const closed = Promise.withResolvers<string>()
  socket.onclose = ({ code, reason }) => closed.resolve(`${code} ${reason}`)
  console.log(await closed.promise)
  const state = (await (await fetch(`${server.url}/api/sessions/${id}`)).json()) as Emitted
  console.log(JSON.stringify(state))
  return String(state.state)
}

try {
  await onDaemon()
  assert.equal(await onBoard('shell', 'board', ''), 'done')
  assert.equal(await onBoard('files', 'unified', ''), 'done')
  assert.equal(await onBoard('shell-hangs', 'board', '"action"'), 'cancelled')
} finally {
  await server.stop()
  await rm(home, { recursive: true, force: true })
}
