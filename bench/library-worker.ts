import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { mainstem } from '../src/library/mainstem.ts'
import type { LaunchKind } from '../src/model/index.ts'
import { least } from './least.ts'

/**
 * One measurement in a separate process: a whole turn through a public iterator. Ours keeps `all` entries or those that
 * are `unread`; `sdk` is the SDK of the agent. Our library is that of the sources, or a built one.
 */
const SOURCES = join(import.meta.dirname, '../src/library/mainstem.ts')
const [mode = '', agent = '', launch = '', stream = '', sdks = '', built = SOURCES] = process.argv.slice(2)

/** The number of turns until all hot functions are compiled. */
const WARM_UP = 5
const TURNS = 5
const CLAUDE = join(import.meta.dirname, 'fake-claude.mjs')
const CODEX = join(import.meta.dirname, 'fake-codex.sh')
const cwd = tmpdir()

interface ClaudeSdk {
  query(request: { prompt: string; options: Record<string, unknown> }): AsyncIterable<{ type: string }>
}
interface CodexSdk {
  Codex: new (options: {
    codexPathOverride: string
    env: Record<string, string>
  }) => {
    startThread(options: Record<string, unknown>): {
      runStreamed(prompt: string): Promise<{ events: AsyncIterable<{ type: string }> }>
    }
  }
}

const run = await prepared()
// Loading modules and compiling hot functions happen once per process and are not measured.
for (let turn = 0; turn < WARM_UP; turn++) await run()
const micros: number[] = []
for (let turn = 0; turn < TURNS; turn++) {
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  micros.push(user + system)
}
process.stdout.write(JSON.stringify({ micros: least(micros) }))

async function prepared(): Promise<() => Promise<void>> {
  if (mode !== 'sdk') {
    const library: { mainstem: typeof mainstem } = await import(pathToFileURL(built).href)
    return () => ours(library.mainstem)
  }
  if (agent === 'claude') {
    const sdk: ClaudeSdk = await load('@anthropic-ai/claude-agent-sdk/sdk.mjs')
    return () => claudeSdk(sdk)
  }
  const sdk: CodexSdk = await load('@openai/codex-sdk/dist/index.js')
  return () => codexSdk(sdk)
}

async function load(path: string) {
  return import(pathToFileURL(join(sdks, 'node_modules', path)).href)
}

async function ours(open: typeof mainstem): Promise<void> {
  const env = { BENCH_STREAM: stream }
  const settings = {
    claude: { command: [process.execPath, CLAUDE], env },
    codex: { command: ['/bin/sh', CODEX], env },
  }
  await using agents = open({ agents: settings })
  const kind: LaunchKind = launch === 'live' ? 'live' : 'oneshot'
  const keep = mode === 'unread' ? 'unread' : 'all'
  const session = await agents.session({ agent, launch: kind, cwd, keep })
  let outcome = ''
  for await (const { event } of session.prompt('go')) {
    if (event.type === 'turn.completed') outcome = event.outcome
  }
  if (outcome !== 'completed') throw new Error(`the turn ended as ${outcome}`)
}

async function claudeSdk({ query }: ClaudeSdk): Promise<void> {
  const options = {
    pathToClaudeCodeExecutable: CLAUDE,
    executable: 'node',
    includePartialMessages: true,
    cwd,
    env: { PATH: process.env.PATH, BENCH_STREAM: stream },
  }
  for await (const { type } of query({ prompt: 'go', options })) if (type === 'result') break
}

async function codexSdk({ Codex }: CodexSdk): Promise<void> {
  const env = { PATH: process.env.PATH ?? '', BENCH_STREAM: stream }
  const thread = new Codex({ codexPathOverride: CODEX, env }).startThread({
    workingDirectory: cwd,
    skipGitRepoCheck: true,
  })
  let ended = false
  for await (const { type } of (await thread.runStreamed('go')).events) ended ||= type === 'turn.completed'
  if (!ended) throw new Error('the turn did not end')
}
