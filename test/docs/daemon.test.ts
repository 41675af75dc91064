import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { StreamEvent } from '../../src/dialects/daemon/daemon-event.ts'
import { pageServer } from './page-server.ts'
import { blocksOf, pages } from './pages.ts'

const run = promisify(execFile)
const page = pages.find(({ path }) => path === 'docs/compatibility/daemon.md') ?? { path: '', text: '' }
const blocks = blocksOf(page)

const server = pageServer()

/** Runs blocks one after the other in one shell, and tells what each of them printed. */
async function shell(commands: readonly string[]): Promise<string[]> {
  const cut = '-- next --'
  const script = commands.join(`\necho '${cut}'\n`).replaceAll('http://127.0.0.1:7380', server.url)
  const { stdout } = await run('bash', ['-c', script], { cwd: server.home, env: { PATH: process.env.PATH } })
  return stdout.split(`${cut}\n`)
}

/** Answers have no line end of their own, and each session has an id of its own. */
const plain = (text: string) =>
  text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID').replaceAll(/\}\n?(?=\{"jsonrpc|$)/g, '}\n')

describe('the page on the daemon face', () => {
  it('shows a conversation as it happens', async () => {
    const first = blocks.findIndex(({ text }) => text.startsWith('rpc() {'))
    const last = blocks.findIndex(({ text }) => text.includes('session.destroy'))
    const conversation = blocks.slice(first, last + 2)
    const commands = conversation.filter(({ language }) => language === 'sh')
    const shown = conversation.filter(({ language }) => language !== 'sh')
    expect(commands).toHaveLength(4)
    const printed = await shell(commands.map(({ text }) => text))
    expect(printed.map(plain)).toEqual(shown.map(({ text }) => plain(text)))
  })

  it('shows a question as the schema has it', () => {
    const question = blocks.find(({ text }) => text.includes('"request_id"'))?.text ?? ''
    const messages = question.trim().split('\n')
    expect(messages).toHaveLength(3)
    for (const message of messages) expect(StreamEvent.safeParse(JSON.parse(message)).error).toBeUndefined()
  })

  it('shows the exchanges of a real program as the schema has them', () => {
    const section = page.text.split('## With a real program')[1]?.split('\n## ')[0] ?? ''
    const exchanges = blocksOf({ path: page.path, text: section }).map(({ text }) =>
      [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data),
    )
    expect(exchanges.map((data) => data.at(-1))).toEqual(['[DONE]', '[DONE]'])
    const messages = exchanges
      .flatMap((data) => data.slice(0, -1))
      .map((data) => StreamEvent.parse(JSON.parse(data)))
    expect(messages.map(({ type }) => type)).toContain('partial')
    expect(messages.filter(({ type }) => type === 'result')).toHaveLength(2)
  })

  it('lists every method there is', async () => {
    const table = page.text.split('## Methods')[1]?.split('\n## ')[0] ?? ''
    const listed = [...table.matchAll(/^\| `([a-z]+\.[a-z_]+)` \|/gm)].map(([, name]) => name)
    expect(listed).toHaveLength(12)
    for (const method of listed) {
      const response = await fetch(`${server.url}/rpc`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ method }),
      })
      expect(await response.json()).not.toMatchObject({ error: { code: -32601 } })
    }
  })
})
