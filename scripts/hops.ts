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

const ROUNDS = 10

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
const { url: base } = running
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
  // The first of these is not counted, so that nothing runs for the first time.
  const rounds = []
  for (let word = 2; word < 3 + ROUNDS; word++) {
    await new Promise((resolve) => setTimeout(resolve, 200))
    const write = async () => {
      writeFileSync(signal, String(word))
      await until(`word ${word}`)
    }
    if (word === 2) await write()
    else rounds.push(await ran(write))
  }
  print('a line, from the pipe to /v1/execute', rounds)
  left.abort()
}

async function printAnswer(): Promise<void> {
  const rounds = []
  for (let round = 0; round <= ROUNDS; round++) {
    const created = await (await post('/v1/sessions', { agent: 'claude', prompt: 'ask' })).json()
    const id = String(Reflect.get(Object(created), 'id'))
    const { requestId, inputDigest } = await openRequest(id)
    const functions = await ran(async () => {
      const body = { decision: 'allow', scope: 'once', inputDigest }
      const response = await post(`/v1/sessions/${id}/requests/${requestId}`, body)
      if (!response.ok) throw new Error(await response.text())
      await response.text()
    })
    if (round > 0) rounds.push(functions)
  }
  print('an answer over HTTP', rounds)
}

async function openRequest(id: string) {
  for (;;) {
    const { requests } = Object(await (await fetch(`${base}/v1/requests`)).json())
    const found = requests.find(({ session }: { session: string }) => session === id)
    if (found) return found.request
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(body), ...(signal && { signal }) }
  return fetch(base + path, init)
}

/** The functions that run during `work`: their names, by file and place in it. */
async function ran(work: () => Promise<void>): Promise<Map<string, string>> {
  await profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await profiler.post('Profiler.takePreciseCoverage')
  await work()
  const { result } = await profiler.post('Profiler.takePreciseCoverage')
  await profiler.post('Profiler.stopPreciseCoverage')
  const sources = pathToFileURL(join(root, 'src/')).href
  const found = new Map<string, string>()
  for (const { url, functions } of result.filter(({ url }) => url.startsWith(sources)))
    for (const { functionName, ranges } of functions)
      if ((ranges[0]?.count ?? 0) > 0)
        found.set(`${url.slice(sources.length)}:${ranges[0]?.startOffset}`, functionName || '=>')
  return found
}

function print(title: string, [first = new Map(), ...others]: readonly ReadonlyMap<string, string>[]): void {
  const always = [...first].filter(([place]) => others.every((round) => round.has(place)))
  const byFile = Map.groupBy(always, ([place]) => place.slice(0, place.lastIndexOf(':')))
  console.log(`${title}: ${always.length} functions in ${byFile.size} files`)
  if (!process.argv.includes('--list')) return
  for (const [file, functions] of byFile)
    console.log(`  ${file}: ${functions.map(([, name]) => name).join(', ')}`)
}
