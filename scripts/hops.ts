import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Counts the functions of `src/` that run for one line of an agent, from its pipe to a subscriber of `/v1/execute`, and
 * for one answer to a permission request over HTTP. V8 counts the calls between two moments; code that ran before
 * (set-up, the first lines) is not counted. The writer thread of SQLite is not counted either.
 *
 *     npm run hops            node scripts/hops.ts <another checkout>
 */
const root = resolve(process.argv[2] ?? '.')
const load = (path: string) => import(pathToFileURL(join(root, path)).href)
const { loadConfig } = await load('src/daemon/config.ts')
const { serve } = await load('src/daemon/serve.ts')

const data = mkdtempSync(join(tmpdir(), 'mainstem-hops-'))
const signal = join(data, 'signal')
writeFileSync(signal, '1')
const config = await loadConfig({
  flags: { port: 0, auth: false, data, cwd: data },
  environment: {},
  cwd: data,
})
const agents = {
  claude: {
    command: [process.execPath, join(import.meta.dirname, 'hops', 'agent.mjs')],
    env: { HOPS_FILE: signal },
  },
}
const running = await serve({ config: { ...config, agents }, report: () => undefined })
const profiler = new Session()
profiler.connect()
await profiler.post('Profiler.enable')
try {
  await printLine()
  await printAnswer()
} finally {
  await running.stop()
  rmSync(data, { recursive: true, force: true })
}

async function printLine(): Promise<void> {
  const left = new AbortController()
  const response = await post(
    '/v1/execute',
    { idempotency_key: 'hops', task: 'go', driver: 'claude', mode: 'live' },
    left.signal,
  )
  const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader()
  const until = async (word: string) => {
    for (let text = ''; !text.includes(word); ) {
      const { done, value } = await reader.read()
      if (done) throw new Error(`the stream ended without "${word}": ${text}`)
      text += value
    }
  }
  await until('word 1')
  // Twice, so that nothing of the counted line runs for the first time.
  writeFileSync(signal, '2')
  await until('word 2')
  await new Promise((resolve) => setTimeout(resolve, 200))
  print(
    'a line, from the pipe to /v1/execute',
    await counted(async () => {
      writeFileSync(signal, '3')
      await until('word 3')
    }),
  )
  left.abort()
}

async function printAnswer(): Promise<void> {
  const created = await (await post('/v1/sessions', { agent: 'claude', prompt: 'ask' })).json()
  const id = String(Reflect.get(Object(created), 'id'))
  const open = async () => {
    const { requests } = Object(await (await fetch(`${running.url}/v1/requests`)).json())
    return requests.find(({ session }: { session: string }) => session === id)
  }
  let found = await open()
  for (; !found; found = await open()) await new Promise((resolve) => setTimeout(resolve, 50))
  const { requestId, inputDigest } = found.request
  print(
    'an answer over HTTP',
    await counted(async () => {
      const body = { decision: 'allow', scope: 'once', inputDigest }
      const response = await post(`/v1/sessions/${id}/requests/${requestId}`, body)
      if (!response.ok) throw new Error(await response.text())
      await response.text()
    }),
  )
}

function post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(body), ...(signal && { signal }) }
  return fetch(running.url + path, init)
}

/** The functions that run during `work`, by file. */
async function counted(work: () => Promise<void>): Promise<Map<string, string[]>> {
  await profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await profiler.post('Profiler.takePreciseCoverage')
  await work()
  const { result } = await profiler.post('Profiler.takePreciseCoverage')
  await profiler.post('Profiler.stopPreciseCoverage')
  const found = new Map<string, string[]>()
  const base = pathToFileURL(join(root, 'src/')).href
  for (const { url, functions } of result) {
    if (!url.startsWith(base)) continue
    const names = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).map((one) => one.functionName)
    if (names.length > 0) found.set(url.slice(base.length), names)
  }
  return found
}

function print(title: string, found: ReadonlyMap<string, readonly string[]>): void {
  const functions = [...found.values()].reduce((sum, names) => sum + names.length, 0)
  console.log(`${title}: ${functions} functions in ${found.size} files`)
  if (process.argv.includes('--list')) {
    for (const [file, names] of found)
      console.log(`  ${file}: ${names.map((name) => name || '=>').join(', ')}`)
  }
}
