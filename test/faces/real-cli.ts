import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../src/daemon/config.ts'
import { serve } from '../../src/daemon/serve.ts'
import { offlineEnvironment, scriptedModel, writeOfflineFiles } from '../../src/testing/index.ts'

/**
 * Shows the faces with a real program behind a scripted model: `node test/faces/real-cli.ts <claude> [more…]` prints what
 * a client of the daemon and of the board sees.
 */
const [command, ...args] = process.argv.slice(2)
if (command === undefined) throw new Error('which program? give the path of a Claude Code')

const home = await mkdtemp(join(tmpdir(), 'faces-'))
const cwd = join(home, 'work')
await mkdir(cwd)
await using model = await scriptedModel()
const offline = offlineEnvironment('claude', model, home)
await writeOfflineFiles(offline)
const env = { ...offline.env, PATH: process.env.PATH ?? '' }
const agents = { claude: { command: [command, ...args], env } }
const ceiling = { approval: 'auto-all', sandbox: 'full-access' }
await writeFile(join(home, 'config.json'), JSON.stringify({ agents, ceiling }))
const config = await loadConfig({
  flags: { port: 0, data: home, cwd, auth: false },
  environment: { MAINSTEM_HOME: home, ...env },
  cwd,
})
const server = await serve({ config, report: console.error })

const prompt = (scenario: string) => `SCENARIO:${scenario} CWD:${cwd} Please do what the script says.`

async function post(path: string, body: unknown): Promise<Response> {
  console.log(`\n> POST ${path} ${JSON.stringify(body)}`)
  return fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

async function shown(response: Response): Promise<string> {
  const text = await response.text()
  console.log(text.trimEnd())
  return text
}

/** A session of the daemon: an exchange with a tool, and one with a permission that is given. */
async function onDaemon(): Promise<void> {
  const rpc = async (method: string, params: object = {}) => shown(await post('/rpc', { method, params }))
  const created = await rpc('session.create', { path: cwd, cli_type: 'claude', mode: 'ask' })
  const { sessionId } = JSON.parse(created).result
  await rpc('session.send', { sessionId, message: prompt('text') })
  await rpc('session.send', { sessionId, message: prompt('permission') })
  await rpc('session.send', { sessionId, message: 'Allow' })
  await rpc('session.list')
  await rpc('session.resume', { sessionId })
  await rpc('session.destroy', { sessionId })
}

async function onBoard(scenario: string, dialect: string): Promise<string> {
  const begun = await shown(
    await post('/api/sessions', {
      agentType: 'claude',
      prompt: prompt(scenario),
      config: { approvalMode: 'autoAll', sandboxMode: 'fullAccess' },
    }),
  )
  const { id } = JSON.parse(begun)
  const path = `/ws/sessions/${id}?dialect=${dialect}`
  console.log(`\n> WS ${path}`)
  const socket = new WebSocket(server.url.replace('http', 'ws') + path)
  socket.onmessage = ({ data }) => console.log(data)
  await new Promise<void>((resolve) => {
    socket.onclose = ({ code, reason }) => {
      console.log(`closed: ${code} ${reason}`)
      resolve()
    }
  })
  return id
}

try {
  await onDaemon()
  await onBoard('shell', 'board')
  const id = await onBoard('files', 'unified')
  console.log(`\n> GET /api/sessions/${id}`)
  await shown(await fetch(`${server.url}/api/sessions/${id}`))
  await shown(await post(`/api/sessions/${id}/cancel`, {}))
} finally {
  await server.stop()
  await rm(home, { recursive: true })
}
