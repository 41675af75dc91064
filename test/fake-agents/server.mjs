// A server that does what it is asked, or plays a recording: `node server.mjs <mode> [folder]`.
import { spawn } from 'node:child_process'
import { readFileSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

const [mode = '', folder = ''] = process.argv.slice(2)
const { OPENCODE_SERVER_USERNAME: user, OPENCODE_SERVER_PASSWORD: password } = process.env
const login = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

const print = (line) => writeSync(1, `${line}\n`)
const json = (status, body) => ({ status, text: JSON.stringify(body) })

let stream
let greeted = false
/** Settles when it has left: an answer that is not to overtake it has to wait, or its reader may end us before. */
const emit = (data) => new Promise((sent) => stream.write(`data: ${JSON.stringify(data)}\n\n`, sent))
const greet = () => {
  greeted = true
  emit({ type: 'server.connected' })
}

/** Which requests came, in their order, and how many of them were open at a time. */
const log = { requests: [], beforeGreeting: 0, open: 0, mostOpen: 0 }

const routes = {
  'GET /log': () => json(200, log),
  'POST /echo': ({ body, headers }) => json(200, { body: JSON.parse(body), type: headers['content-type'] }),
  'GET /conflict': () => json(409, { message: 'not now' }),
  'GET /words': () => ({ status: 200, text: 'plain "words"' }),
  'GET /empty': () => ({ status: 204, text: '' }),
  'GET /big': () => ({ status: 200, text: 'x'.repeat(17 * 1024 * 1024) }),
  'GET /slow': async () => {
    await setTimeout(50)
    return json(200, 'at last')
  },
  'GET /never': () => new Promise(() => undefined),
  'GET /environment': () => json(200, { env: process.env, argv: process.argv }),
  'POST /count': async ({ body }) => {
    const event = (_, n) => `data: ${JSON.stringify({ n, filler: 'ä'.repeat(100) })}\n\n`
    const events = Array.from({ length: Number(body) }, event)
    // In pieces, each when the one before it has left: a reader that is behind is waited for.
    while (events.length > 0) await new Promise((sent) => stream.write(events.splice(0, 100).join(''), sent))
    return { status: 204, text: '' }
  },
  'POST /bytes': async ({ body }) => {
    for (const byte of Buffer.from(`data: ${body}\n\n`)) stream.write(Buffer.of(byte))
    return { status: 204, text: '' }
  },
  'POST /emit': async ({ body }) => {
    await emit(JSON.parse(body))
    return { status: 204, text: '' }
  },
  'GET /huge': () => {
    for (let n = 0; n < 66; n++) stream.write(n === 0 ? 'data: ' : 'x'.repeat(1024 * 1024))
    stream.write('\n\n')
    return { status: 204, text: '' }
  },
  'GET /leak': async () => {
    print(`password ${password}`)
    writeSync(2, `header ${login}\n`)
    await emit({ password, login })
    return json(200, { password })
  },
  'GET /drop': () => {
    stream.end()
    return json(200, true)
  },
  'GET /die': () => {
    emit({ last: 'words' })
    stream.end(() => process.exit(7))
    return new Promise(() => undefined)
  },
}

/** Plays the events of a recording; one that a call had caused waits for that call. */
function recorded() {
  const lines = (name) => readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean).map(JSON.parse)
  const events = lines('stdout.jsonl')
  const exchanges = lines('in.jsonl').filter(({ req }) => req.method === 'POST')
  const root = exchanges[0].res.body
  const made = new Set()
  let played = 0

  const causeOf = ({ type, properties: { sessionID, requestID, info, error } }) => {
    const isRoot = sessionID === root.id
    if (isRoot && type === 'session.created') return 'POST /session'
    if (isRoot && type === 'message.updated' && info.role === 'user') return `POST ${exchanges[1].req.path}`
    if (type === 'permission.replied') return `POST /permission/${requestID}/reply`
    if (type === 'question.replied') return `POST /question/${requestID}/reply`
    return error?.name === 'MessageAbortedError' ? `POST /session/${sessionID}/abort` : undefined
  }
  const isDue = (event) => {
    const cause = causeOf(event)
    return cause === undefined || made.has(cause)
  }

  return (call) => {
    // A session that is resumed is there already.
    const resumed = call === `GET /session/${root.id}`
    const exchange = resumed ? exchanges[0] : exchanges.find(({ req }) => `POST ${req.path}` === call)
    if (!exchange) return json(404, { name: 'NotFoundError', data: { message: call } })
    made.add(resumed ? 'POST /session' : call)
    setImmediate(() => {
      while (played < events.length && isDue(events[played])) emit(events[played++])
    })
    const { status, body } = exchange.res
    return body === '' ? { status, text: '' } : json(status, body)
  }
}

const play = mode === 'recorded' ? recorded() : undefined

function openStream(response) {
  stream = response
  if (mode === 'refuse') return response.writeHead(500).end()
  if (mode === 'page') return response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  // Time enough for a call that does not wait for the greeting.
  if (mode === 'shy') setTimeout(200).then(greet)
  else if (mode !== 'mute') greet()
}

async function serve(request, response) {
  if (request.headers.authorization !== login) return response.writeHead(401).end()
  const call = `${request.method} ${request.url}`
  log.requests.push(call)
  if (call === 'GET /event') return openStream(response)
  if (!greeted) log.beforeGreeting++
  log.mostOpen = Math.max(log.mostOpen, ++log.open)
  const body = (await request.setEncoding('utf8').toArray()).join('')
  const route = play ? () => play(call) : (routes[call] ?? (() => json(404, {})))
  const { status, text } = await route({ body, headers: request.headers })
  log.open--
  response.writeHead(status).end(text)
}

process.on('SIGUSR2', () => stream.end())
if (mode === 'lingering') process.on('SIGTERM', () => stream.end())
if (mode === 'survived')
  spawn('/bin/sh', ['-c', 'trap "" TERM; while :; do sleep 1; done'], { stdio: 'ignore' })
if (mode === 'polite') {
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
      print(`heard ${signal}`)
      process.exit(7)
    })
  }
}
print(`fake server ${process.pid}`)
if (mode === 'exit') {
  writeSync(2, 'no such model\n')
  process.exit(3)
}
if (mode === 'silent') {
  setInterval(() => undefined, 60_000)
} else {
  const server = createServer(serve).listen(0, '127.0.0.1', () => {
    const line = `opencode server listening on http://127.0.0.1:${server.address().port}\n`
    writeSync(mode === 'stderr' ? 2 : 1, line)
  })
}
