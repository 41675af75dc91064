import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual, promisify } from 'node:util'
import { installLocked } from '../tools.ts'
import { environment, type Project, ROOT } from './project.ts'
import { serve } from './server.ts'

const run = promisify(execFile)
/** The generator has its own manifest, because nothing else needs its packages. */
const GENERATOR = join(import.meta.dirname, 'openapi')

/** A program by a user who has only the OpenAPI document. The compiler checks each line too. */
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
// The generator treats every response that can be a stream as one.
const { entries = [] }: Page = JSON.parse(await page.stream.text())
const session = await getSession(id, init)
if (session.status !== 200) throw new Error(session.data.detail)
const usage = await getUsage({}, init)
if (usage.status !== 200) throw new Error('no usage')
const { turns } = usage.data.total

const onBoard = await createBoardSession({ agentType: 'echo', prompt: 'on the board' }, init)
if (onBoard.status !== 201) throw new Error(onBoard.data.detail)
const state = await getBoardSession(onBoard.data.id, init)
if (state.status !== 200) throw new Error(state.data.detail)
const health = await callMethod({ method: 'health.check' }, undefined, init)

await deleteSession(id, init)
const missing = await getSession(id, init)
if (missing.status !== 404) throw new Error('the session was not deleted')
const { code } = missing.data
// Compiles only if the codes are a closed list.
const closed: string extends typeof code ? never : true = true
const refused = await getSession(id)

console.log(
  JSON.stringify({
    turn,
    entries,
    outcome: session.data.lastOutcome,
    turns,
    board: ['running', 'done'].includes(state.data.state),
    health: health.data,
    code,
    closed,
    refused: refused.status === 401 && refused.data.code,
  }),
)
`

const PRINTED = {
  turn: 1,
  events: ['session.started', 'turn.started', 'text.completed', 'turn.completed'],
  outcome: 'completed',
  turns: 1,
  board: true,
  healthy: true,
  code: 'session_not_found',
  closed: true,
  refused: 'unauthorized',
}

const COMPILER_OPTIONS = {
  target: 'es2024',
  lib: ['es2024'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  noEmit: true,
}

/** Generates a client from the OpenAPI document of the packed server, compiles a program with it, and runs it. */
export async function checkGeneratedClient(project: Project): Promise<void> {
  const folder = join(project.folder, 'generated')
  mkdirSync(folder)
  await using server = await serve(process.execPath, project, 'data-generated')
  const token = readFileSync(join(project.folder, 'data-generated/token'), 'utf8').trim()
  const description = await fetch(`${server.url}/openapi.json`, {
    headers: { authorization: `Bearer ${token}` },
  })
  writeFileSync(join(folder, 'openapi.json'), await description.text())
  const input = { target: './openapi.json' }
  const output = { target: './client.ts', client: 'fetch', baseUrl: server.url }
  writeFileSync(
    join(folder, 'orval.config.mjs'),
    `export default ${JSON.stringify({ api: { input, output } })}\n`,
  )
  const orval = join(await installLocked(GENERATOR), 'node_modules/orval/dist/bin/orval.mjs')
  await run(process.execPath, [orval, '--config', 'orval.config.mjs'], { cwd: folder })
  writeFileSync(join(folder, 'program.ts'), PROGRAM)
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ['*.ts'] }),
  )
  await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder]).catch((failed) => {
    throw new Error(`the generated client does not compile:\n${failed.stdout}`)
  })
  const env = environment(project, 'local')
  const { stdout } = await run(process.execPath, [join(folder, 'program.ts'), token], { env })
  const { entries, health, ...rest } = JSON.parse(stdout)
  const events = entries.map(({ event }: { event: { type: string } }) => event.type)
  if (!isDeepStrictEqual({ events, healthy: health.result?.ok, ...rest }, PRINTED)) {
    throw new Error(`the generated client printed ${stdout}`)
  }
}
