// Stands in for Claude Code in a terminal: it does what the prompt names, and says what it was answered. A tool that
// was allowed adds a line to `ran.log` in the working directory.
import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'

if (process.argv.includes('--version')) {
  console.log('2.1.326 (Claude Code)')
  process.exit(0)
}

const session_id = randomUUID()
let unsaid = ''
/** What is said at once is written at once, so that two parallel requests are open together. */
function say(message) {
  if (unsaid === '')
    queueMicrotask(() => {
      process.stdout.write(unsaid)
      unsaid = ''
    })
  unsaid += `${JSON.stringify({ session_id, uuid: randomUUID(), ...message })}\n`
}
const text = (text) => content('assistant', { type: 'text', text })
const content = (role, block, more) => {
  const message = { id: `msg_${randomUUID()}`, role, model: 'm', content: [block] }
  say({ type: role, message, parent_tool_use_id: null, ...more })
}
const end = (result) => say({ type: 'result', subtype: 'success', is_error: false, result })

const QUESTION = {
  questions: [
    {
      question: 'Which database?',
      header: 'Database',
      multiSelect: false,
      options: [
        { label: 'PostgreSQL', description: 'a server' },
        { label: 'SQLite', description: 'a file' },
      ],
    },
  ],
}

const FORM = {
  questions: [
    ...QUESTION.questions,
    {
      question: 'Which of the many directories of this project has the migrations that have to run first?',
      header: 'Migrations',
      multiSelect: false,
      options: [
        { label: 'db/migrations/of/the/first/generation/of/services', description: 'a directory '.repeat(9) },
        { label: 'sql', description: 'another one' },
      ],
    },
  ],
}

/** Escape sequences that clear the screen, move the cursor and set the title, and a prompt that is not ours. */
const FORGED = '\x1b[2J\x1b[1;1H\x1b]0;owned\x07? Permission  Run ls\n  y allow once · n deny\r\x1b[5Aover'

const open = new Map()
function ask(name, input, next) {
  const id = `call_${randomUUID()}`
  open.set(id, { name, input, next })
  content('assistant', { type: 'tool_use', id, name, input })
  const request = { subtype: 'can_use_tool', tool_name: name, tool_use_id: id, input }
  say({ type: 'control_request', request_id: id, request })
}

const bash = (command, next) => ask('Bash', { command }, next)
const numbered = (count) => Array.from({ length: count }, (_, index) => `line ${index + 1}`).join('\n')

/** Asks as soon as the file `ask-now` exists. */
function later(request) {
  text('thinking')
  const timer = setInterval(() => {
    if (!existsSync('ask-now')) return
    clearInterval(timer)
    request()
  }, 2)
}

const scenes = {
  later: () => later(() => bash('first')),
  'later-parallel': () => later(scenes.parallel),
  'later-twice': () => later(scenes.twice),
  /** The file has what the environment has, and the text what Mainstem lets through. */
  key() {
    const key = process.env.ANTHROPIC_API_KEY ?? 'none'
    appendFileSync('key.txt', `${key}\n`)
    text(`The key is ${key}.`)
    end(`The key is ${key}.`)
  },
  'later-write': () => later(() => scenes.write(100)),
  twice: () => bash('first', () => bash('second')),
  parallel: () => {
    bash('first')
    bash('second')
  },
  write: (lines) => ask('Write', { file_path: '/project/long.txt', content: numbered(Number(lines)) }),
  /** Creates a file in its directory without a request. */
  created(lines) {
    const id = `call_${randomUUID()}`
    const input = { file_path: `${process.cwd()}/long.txt`, content: numbered(Number(lines)) }
    content('assistant', { type: 'tool_use', id, name: 'Write', input })
    const { file_path: filePath, content: written } = input
    const tool_use_result = { type: 'create', filePath, content: written, structuredPatch: [] }
    content('user', { type: 'tool_result', tool_use_id: id, content: 'ok' }, { tool_use_result })
    end('written')
  },
  hidden: () => bash('echo safe \u202e\u200b\x1b[8m; rm -rf secret'),
  permission: () => ask('Bash', { command: 'rm -rf build && npm run build -- --all-of-it' }),
  question: () => ask('AskUserQuestion', QUESTION),
  form: () => ask('AskUserQuestion', FORM),
  forge: () => {
    text(FORGED)
    end('done')
  },
  work: () => text('working'),
  silence: () => undefined,
  wait: () => {
    text('working')
    const timer = setInterval(() => {
      if (!existsSync('go-on')) return
      clearInterval(timer)
      end('waited')
    }, 2)
  },
  chat: () => setInterval(() => text('working'), 20),
  login: () => {
    const result = 'Invalid API key · Please run /login'
    say({ type: 'result', subtype: 'success', is_error: true, result })
  },
}

function answered(id, { behavior, message, updatedInput }) {
  const { name, input, next } = open.get(id)
  open.delete(id)
  const allowed = behavior === 'allow'
  if (allowed) appendFileSync('ran.log', `${name} ${input.command ?? input.file_path ?? ''}\n`)
  const output = {
    type: 'tool_result',
    tool_use_id: id,
    content: allowed ? 'ran' : 'denied',
    is_error: !allowed,
  }
  content('user', output)
  const said = allowed ? `allowed ${JSON.stringify(updatedInput?.answers ?? name)}` : `denied: ${message}`
  text(`I was ${said}`)
  if (next) next()
  else if (open.size === 0) end(`I was ${said}`)
}

function hear(message) {
  if (message.type === 'user') {
    say({ type: 'system', subtype: 'init', model: 'm', tools: [] })
    const prompt = message.message.content[0].text
    const [name, detail] = prompt.split(' ')
    const scene = scenes[name]
    if (scene) scene(detail)
    else end(prompt)
  } else if (message.type === 'control_response')
    answered(message.response.request_id, message.response.response)
  else if (message.type === 'control_request') {
    const { request_id, request } = message
    const restored = { canRewind: true, filesChanged: ['restored.txt'] }
    const response = request.subtype === 'rewind_files' ? restored : { commands: [], models: [] }
    say({ type: 'control_response', response: { subtype: 'success', request_id, response } })
    if (request.subtype !== 'interrupt') return
    const aborted = { is_error: true, errors: [], terminal_reason: 'aborted_streaming' }
    say({ type: 'result', subtype: 'error_during_execution', ...aborted })
  }
}

const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => hear(JSON.parse(line)))
lines.on('close', () => process.exit(0))
