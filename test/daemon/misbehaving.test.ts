import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { loadConfig } from '../../src/daemon/config.ts'
import { serve } from '../../src/daemon/serve.ts'

const AGENT = join(import.meta.dirname, '../fake-agents/agent.mjs')
const home = realpathSync(mkdtempSync(join(tmpdir(), 'mainstem-misbehaving-')))
afterAll(() => rmSync(home, { recursive: true }))

test.each([
  ['hangs', 'hang'],
  ['floods', 'flood'],
  ['is killed', 'killed'],
  ['breaks off in the middle of a line', 'cut'],
  ['ignores signals', 'deaf'],
  ['stops itself', 'stopped'],
  ['starts a tool in a session of its own', 'detached'],
  ['starts a tool without our environment', 'cleared'],
  ['leaves a child that holds its output', 'holder'],
])(
  'an agent that %s: one session_end, and nothing of it is left',
  { timeout: 60_000 },
  async (_what, mode) => {
    const file = join(home, `${mode}.json`)
    const agents = { claude: { command: [process.execPath, AGENT, mode, '50'] } }
    writeFileSync(
      file,
      JSON.stringify({ agents, policy: { approval: 'ask', sandbox: 'none', timeoutMs: 1_500 } }),
    )
    const flags = { config: file, data: join(home, mode), cwd: home, port: 0 }
    const config = await loadConfig({ flags, environment: {}, cwd: home })
    const server = await serve({ config, report: () => undefined })
    try {
      const response = await fetch(`${server.url}/v1/execute`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${server.tokenFile?.token}` },
        body: JSON.stringify({ idempotency_key: mode, task: 'go', driver: 'claude' }),
      })
      const session = response.headers.get('mainstem-session') ?? ''
      const messages =
        (await response.text()).match(/^data: .*$/gm)?.map((line) => JSON.parse(line.slice(6))) ?? []
      const ends = messages.filter(({ kind }) => kind === 'session_end')
      expect(ends).toHaveLength(1)
      expect(messages.at(-1)).toEqual(ends[0])
      expect(ends[0].exit_code).toBeGreaterThan(0)
      expect(session).not.toBe('')
      expect(marked(session)).toEqual([])
    } finally {
      await server.stop()
    }
  },
)

/** Processes that carry the marker of a run of this session. */
function marked(session: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      return new RegExp(`MAINSTEM_RUN=[^\\0]*${session}`).test(readFileSync(`/proc/${pid}/environ`, 'utf8'))
    } catch {
      // Gone, or not ours to look into.
      return false
    }
  })
}
