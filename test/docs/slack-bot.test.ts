import { type ChildProcess, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { MainstemClient } from '../../src/client/index.ts'
import { MAIN } from '../built-program.ts'

const SECRET = 'signing-secret'
const home = realpathSync(mkdtempSync(join(tmpdir(), 'slack-')))
const children: ChildProcess[] = []
const environment = { PATH: process.env.PATH, MAINSTEM_HOME: home }

/** Starts a program and returns the address in its first line of output. */
async function started(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(process.execPath, [...args], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  for await (const line of createInterface({ input: child.stdout })) {
    const [address] = /http:\S+/.exec(line) ?? []
    if (address !== undefined) return address
  }
  throw new Error(`${args.join(' ')} ended without an address`)
}

interface Message {
  method: string
  text: string
  buttons: { label: string; value: string }[]
}

/** A Slack that keeps every message, and clicks one button of each. */
class FakeSlack {
  readonly messages: Message[] = []
  readonly #server: Server
  click: (message: Message) => Promise<void> = async () => undefined

  constructor() {
    this.#server = createServer(async (request, response) => {
      const body = JSON.parse(await text(request))
      const actions = body.blocks.find((block: { type: string }) => block.type === 'actions')
      const message: Message = {
        method: request.url?.slice(1) ?? '',
        text: body.text,
        buttons: (actions?.elements ?? []).map((element: { text: { text: string }; value: string }) => ({
          label: element.text.text,
          value: element.value,
        })),
      }
      this.messages.push(message)
      response.end(JSON.stringify({ ok: true, ts: `${this.messages.length}.0` }))
      if (message.buttons.length > 0) await this.click(message)
    })
  }

  async listen(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server.close()
  }
}

/** What Slack sends when `user` clicks a button. */
async function click(bot: string, value: string, secret = SECRET): Promise<number> {
  const body = new URLSearchParams({
    payload: JSON.stringify({ type: 'block_actions', user: { id: 'U1' }, actions: [{ value }] }),
  }).toString()
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const signature = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')
  const response = await fetch(bot, {
    method: 'POST',
    headers: { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': `v0=${signature}` },
    body,
  })
  return response.status
}

const slack = new FakeSlack()
let mainstem = ''
let bot = ''

beforeAll(async () => {
  mainstem = await started(
    ['--import', './test/docs/fast.mjs', MAIN, 'serve', '--no-auth', '--port', '0', '--cwd', home],
    environment,
  )
  bot = await started(['examples/slack-bot.ts'], {
    ...environment,
    MAINSTEM_URL: mainstem,
    SLACK_API: await slack.listen(),
    SLACK_BOT_TOKEN: 'xoxb-test',
    SLACK_SIGNING_SECRET: SECRET,
    SLACK_CHANNEL: 'C1',
    PORT: '0',
  })
})

afterAll(async () => {
  slack.close()
  for (const child of children.reverse()) {
    child.kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  rmSync(home, { recursive: true })
})

it('the Slack bot posts each request once, sends the clicked answer, and rejects a forged click', async () => {
  const client = new MainstemClient({ baseUrl: mainstem })
  const forged: number[] = []
  slack.click = async ({ buttons: [first] }) => {
    const value = first?.value ?? ''
    forged.push(await click(bot, value, 'another secret'))
    await click(bot, value)
  }
  const { id } = await client.begin({ agent: 'demo', prompt: 'Fix the failing test.' })
  const decisions: string[] = []
  for await (const { event } of client.entries(id)) {
    if (event.type === 'request.resolved') decisions.push(event.decision)
    if (event.type === 'turn.completed') {
      expect(event.outcome).toBe('completed')
      break
    }
  }
  expect(decisions).toEqual(['allow', 'answered', 'allow'])
  expect(forged).toEqual([401, 401, 401])
  const posted = slack.messages.filter(({ method }) => method === 'chat.postMessage')
  expect(posted.map(({ text }) => text)).toEqual([
    'Agent request: Edit src/paginate.ts',
    expect.stringMatching(/^Agent request: /),
    'Agent request: Edit src/routes/feed.ts',
  ])
  expect(posted[0]?.buttons.map(({ label }) => label)).toEqual(['Allow once', 'Deny'])
  await expect.poll(() => slack.messages.filter(({ method }) => method === 'chat.update').length).toBe(3)
})
