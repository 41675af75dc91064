// The server of OpenCode 2, made from recordings: `node opencode2.mjs serve --stdio`. Each prompt begins with the name of
// a recording, whose events are played from the delivery of its prompt on. Bodies are those of the released server.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'

const { OPENCODE_PASSWORD: password, OPENCODE_2_RECORDINGS: folder, OPENCODE_2_MODE: mode = '' } = process.env
const login = `Basic ${Buffer.from(`opencode:${password}`).toString('base64')}`

if (process.argv.includes('--version')) {
  console.log(process.env.OPENCODE_2_VERSION ?? '2.0.17')
  process.exit(0)
}

/** Sessions outlive a server, as they do on disk. */
const store = process.env.OPENCODE_2_STATE
const sessions = new Map(load())
const log = []
let stream
let count = 0
let loaded = mode !== 'cold'
const now = () => 1794977000000 + ++count

const id = (prefix) => `${prefix}_${String(++count).padStart(6, '0')}${process.pid}`

function load() {
  try {
    return JSON.parse(readFileSync(store, 'utf8'))
  } catch {
    return []
  }
}

async function save() {
  if (store === undefined) return
  const { writeFileSync } = await import('node:fs')
  const kept = [...sessions].map(([key, { seq, messages, inbox }]) => [key, { seq, messages, inbox }])
  writeFileSync(store, JSON.stringify(kept))
}

function emit(type, data, session, durable = true) {
  const event = { id: id('evt'), created: now(), type, data }
  if (session && durable)
    event.durable = { aggregateID: data.sessionID, seq: session.seq[data.sessionID] ?? 0, version: 1 }
  if (session && durable) session.seq[data.sessionID] = (session.seq[data.sessionID] ?? 0) + 1
  if (stream) stream.write(`data: ${JSON.stringify(event)}\n\n`)
}

/** The events of a recording, from the delivery of its first prompt or compaction on. */
function scenario(name, wanted = 'user') {
  const lines = readFileSync(join(folder, name, 'transcript.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
  const all = lines.map((line) => JSON.parse(line))
  const events = all.flatMap(({ stream: from, msg }) => (/^sse/.test(from ?? '') && msg?.data ? [msg] : []))
  const root = events.find(({ type, data }) => type === 'session.created' && !data.parentID).data.sessionID
  const { inboxID } = events.find(
    ({ type, data }) =>
      type === 'session.inbox.enqueued' && data.sessionID === root && data.item.type === wanted,
  ).data
  const first = events.findIndex(
    ({ type, data }) => type === 'session.inbox.delivered' && data.inboxID === inboxID,
  )
  const prompt = events[first]?.data.inboxID
  return { root, prompt, events: events.slice(first) }
}

/** Renames the ids of a recording: it may be played twice, and in a session with another id. */
function renamed(value, names) {
  const text = JSON.stringify(value)
  return JSON.parse(
    text.replace(/\b(?:ses|msg|per|frm)_[A-Za-z0-9]+/g, (one) => names.get(one) ?? fresh(one, names)),
  )
}

function fresh(one, names) {
  const name = id(one.slice(0, 3))
  names.set(one, name)
  return name
}

const SKIPPED = /^(?:plugin|catalog|command|skill|integration|agent|websearch|reference|mcp|server|shell)\./

/** Plays events until one waits for a call: an answer, a cancelled form, or an interrupt. */
async function play(session, sessionID) {
  const { playing } = session
  while (playing && playing.at < playing.events.length) {
    const event = renamed(playing.events[playing.at], playing.names)
    const cause = causeOf(event)
    if (cause !== undefined && !playing.done.delete(cause)) break
    playing.at++
    if (SKIPPED.test(event.type)) continue
    if (event.type === 'permission.asked') session.requests.set(event.data.id, event.data)
    if (event.type === 'form.created') session.forms.set(event.data.form.id, event.data.form)
    if (event.type === 'permission.replied') session.requests.delete(event.data.requestID)
    if (/^form\.(?:replied|cancelled)$/.test(event.type)) session.forms.delete(event.data.id)
    if (event.type === 'session.inbox.delivered')
      session.inbox = session.inbox.filter((one) => one.id !== event.data.inboxID)
    note(session, event)
    emit(event.type, event.data, session, event.durable !== undefined)
    if (
      /^session\.execution\.(?:succeeded|failed|interrupted)$/.test(event.type) &&
      event.data.sessionID === sessionID
    ) {
      session.playing = undefined
      await save()
      return
    }
  }
}

function causeOf({ type, data }) {
  if (type === 'permission.replied') return `${data.reply === 'reject' ? 'reject' : 'once'} ${data.requestID}`
  if (type === 'form.replied') return `answer ${data.id}`
  if (type === 'form.cancelled') return `cancel ${data.id}`
  if (type === 'session.inbox.cancelled') return `remove ${data.inboxID}`
  if (type === 'session.execution.interrupted' && data.reason === 'user') return 'interrupt'
  if (type === 'session.tool.failed' && /^Tool execution interrupted/.test(data.error.message)) return 'stop'
  return undefined
}

/** Stored messages, as far as a recovery reads them. */
function note(session, { type, data }) {
  const message = session.messages.find((one) => one.id === data.assistantMessageID)
  if (type === 'session.inbox.delivered')
    session.messages.unshift({ id: data.inboxID, type: session.playing.wanted, time: {} })
  if (type === 'session.compaction.ended')
    Object.assign(session.messages[0], { status: 'completed', reason: data.reason, summary: data.text })
  if (type === 'session.step.started' && !message)
    session.messages.unshift({
      id: data.assistantMessageID,
      type: 'assistant',
      time: { created: now() },
      content: [],
    })
  if (!message) return
  const call = message.content.find((one) => one.id === data.id)
  if (type === 'session.text.ended') message.content.unshift({ type: 'text', text: data.text })
  if (type === 'session.tool.input.started')
    message.content.push({ type: 'tool', id: data.id, name: data.name, state: { status: 'pending' } })
  if (type === 'session.tool.called') call.state = { status: 'running', input: data.input }
  if (type === 'session.tool.success') Object.assign(call.state, { ...data, status: 'completed' })
  if (type === 'session.tool.failed') Object.assign(call.state, { error: data.error, status: 'error' })
  if (type === 'session.step.ended') {
    const { finish, tokens, cost } = data
    Object.assign(message, { finish, tokens, cost, time: { ...message.time, completed: now() } })
  }
}

const ok = (data) => ({ status: 200, body: { data } })
const none = { status: 204, body: '' }
const failure = (status, _tag, message) => ({ status, body: { _tag, message } })

async function prompt(session, sessionID, body) {
  const known =
    session.inbox.find((one) => one.id === body.id) ?? session.messages.find((one) => one.id === body.id)
  if (known) return ok(known)
  const item = {
    id: body.id,
    sessionID,
    type: 'user',
    payload: { text: body.text },
    delivery: body.delivery ?? 'steer',
  }
  session.inbox.push(item)
  emit('session.inbox.enqueued', { inboxID: body.id, sessionID, item }, session)
  await save()
  if (session.playing) return ok(item)
  const [name = ''] = body.text.split(/\s/)
  if (name === 'never') {
    console.log('a prompt waits')
    return ok(item)
  }
  emit('session.execution.started', { sessionID }, session)
  begin(session, sessionID, name, item)
  return ok(item)
}

/** Plays the recording of a prompt or a compaction. */
function begin(session, sessionID, name, { id: itemID, type: wanted }) {
  const { root, prompt: recorded, events } = scenario(name, wanted)
  const names = new Map([
    [root, sessionID],
    [recorded, itemID],
  ])
  session.playing = { events, at: 0, names, done: new Set(), wanted }
  setImmediate(() => play(session, sessionID))
}

/** A compaction waits in the inbox as a prompt does. */
async function compact(session, sessionID) {
  const item = { id: id('msg'), sessionID, type: 'compaction', payload: {}, delivery: 'queue' }
  session.inbox.push(item)
  emit('session.inbox.enqueued', { inboxID: item.id, sessionID, item }, session)
  await save()
  if (mode === 'never compacts') {
    console.log('a compaction waits')
    return ok(item)
  }
  emit('session.execution.started', { sessionID }, session)
  begin(session, sessionID, 'compact_manual', item)
  return ok(item)
}

async function interrupt(session, sessionID) {
  const { playing } = session
  if (!playing) return { status: 200, body: { interrupted: false } }
  playing.done.add('interrupt').add('stop')
  for (const form of session.forms.keys()) playing.done.add(`cancel ${form}`)
  setImmediate(() => play(session, sessionID))
  return { status: 200, body: { interrupted: true } }
}

async function inSession(method, sessionID, [what, item], body, query) {
  const session = sessions.get(sessionID)
  if (!session) return failure(404, 'SessionNotFoundError', `Session not found: ${sessionID}`)
  const { playing } = session
  const done = (cause) => {
    playing?.done.add(cause)
    setImmediate(() => play(session, sessionID))
    return none
  }
  switch (`${method} ${what ?? ''}`) {
    case 'GET ':
      return ok({ id: sessionID, time: { created: 1, updated: now() } })
    case 'POST prompt':
      return prompt(session, sessionID, body)
    case 'POST compact':
      return compact(session, sessionID)
    case 'POST interrupt':
      return interrupt(session, sessionID)
    case 'GET message':
      return ok(session.messages)
    case 'GET permission':
      return ok([...session.requests.values()])
    case 'GET form':
      return ok([...session.forms.values()])
    case 'GET inbox':
      return ok(session.inbox)
    case 'DELETE inbox': {
      const waits = session.inbox.some((one) => one.id === item)
      session.inbox = session.inbox.filter((one) => one.id !== item)
      if (!waits) return failure(404, 'InboxItemNotFoundError', 'not in the inbox')
      emit('session.inbox.cancelled', { sessionID, inboxID: item }, session)
      await save()
      return none
    }
    case 'POST permission':
      if (mode === 'preview') return done(`${body.reply} ${item}`)
      if (body.decision === undefined)
        return failure(400, 'InvalidRequestError', 'Missing key\n  at ["decision"]')
      if (!session.requests.has(item)) return failure(404, 'PermissionNotFoundError', 'no such request')
      if (body.decision === 'reject' && body.message === undefined)
        for (const other of session.requests.keys()) playing?.done.add(`reject ${other}`)
      return done(`${body.decision} ${item}`)
    case 'POST form':
      return session.forms.has(item)
        ? done(`answer ${item}`)
        : failure(409, 'FormAlreadySettledError', 'settled')
    case 'DELETE form':
      return done(`cancel ${item}${query ? '' : ''}`)
    case 'POST model':
    case 'POST agent':
    case 'PUT instructions':
      return none
    default:
      return { status: 404, body: '' }
  }
}

async function route(method, url, body) {
  const [path, query] = url.split('?')
  const [, , area, one, ...rest] = path.replace('/experimental', '').split('/')
  if (path === '/api/info') {
    if (mode === 'preview' || mode === 'silent') return { status: 404, body: '' }
    return { status: 200, body: { version: '2.0.17', pid: process.pid, urls: [], paths: {} } }
  }
  if (path === '/api/health' && mode === 'preview')
    return { status: 200, body: { healthy: true, version: 'local' } }
  if (path === '/log') return { status: 200, body: log }
  if (path === '/api/agent') {
    if (loaded) return ok([{ id: 'build' }])
    setImmediate(() => {
      loaded = true
      emit('agent.updated', {})
    })
    return ok([])
  }
  if (path === '/api/mcp') return ok(servers())
  if (path === '/api/session/active')
    return ok(
      Object.fromEntries(
        [...sessions].flatMap(([key, { playing }]) => (playing ? [[key, { type: 'running' }]] : [])),
      ),
    )
  if (path === '/api/session' && method === 'POST') {
    const sessionID = id('ses')
    const session = newSession()
    sessions.set(sessionID, session)
    emit('session.created', { sessionID, version: '2.0.17', title: 'played' }, session)
    await save()
    return ok({ id: sessionID, title: 'played', time: { created: 1, updated: now() } })
  }
  return area === 'session' ? inSession(method, one, rest, body, query) : { status: 404, body: '' }
}

let asked = 0
let refused = 0
function servers() {
  if (mode !== 'cold') return []
  asked++
  if (asked === 1) setImmediate(() => emit('mcp.status.changed', { server: 'lab' }))
  return [{ name: 'lab', status: { status: asked === 1 ? 'pending' : 'connected' } }]
}

function newSession(kept = {}) {
  return {
    seq: {},
    messages: [],
    inbox: [],
    ...kept,
    requests: new Map(),
    forms: new Map(),
    playing: undefined,
  }
}
for (const [key, kept] of sessions) sessions.set(key, newSession(kept))

const server = createServer(async (request, response) => {
  if (request.headers.authorization !== login) return response.writeHead(401).end()
  if (request.url === '/api/event') {
    if (mode === 'starting' && refused++ === 0) return response.writeHead(503).end()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    stream = response
    response.write(': heartbeat\n\n')
    return emit('server.connected', {})
  }
  const text = (await request.setEncoding('utf8').toArray()).join('')
  const body = text === '' ? {} : JSON.parse(text)
  log.push({ method: request.method, path: request.url, body })
  if (process.env.OPENCODE_2_LOG) {
    const { appendFileSync } = await import('node:fs')
    appendFileSync(
      process.env.OPENCODE_2_LOG,
      `${JSON.stringify({ method: request.method, path: request.url, body })}\n`,
    )
  }
  const answer = await route(request.method, request.url, body)
  const sent = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body)
  response.writeHead(answer.status).end(sent)
})

/** Drops the stream while the work goes on, as a network does. */
process.on('SIGUSR2', () => {
  const broken = stream
  stream = undefined
  for (const [key, session] of sessions) {
    if (session.playing) {
      for (const request of session.requests.keys()) session.playing.done.add(`once ${request}`)
      play(session, key)
    }
  }
  broken?.destroy()
})
process.stdin.on('end', () => process.exit(0)).resume()
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` }))
  console.log(`fake opencode ${process.pid}`)
})
