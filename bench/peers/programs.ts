import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'

/** A program that runs this command. Returns its path. */
export function executable(path: string, command: readonly string[]): string {
  writeFileSync(path, `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(' ')}\n`, { mode: 0o755 })
  return path
}

/** A program whose home is `folder`. Ended when disposed. */
export function started(
  program: string,
  args: readonly string[],
  folder: string,
  stdin: 'pipe' | 'ignore' = 'ignore',
) {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    DO_NOT_TRACK: '1',
    SANDBOX_AGENT_REQUIRE_PREINSTALL: '1',
  }
  const child = spawn(program, args, { cwd: folder, env, stdio: [stdin, 'pipe', 'ignore'] })
  return Object.assign(child, { [Symbol.dispose]: () => void child.kill() })
}

export async function addressOf({ stdout }: ChildProcess): Promise<string> {
  if (stdout)
    for await (const line of createInterface(stdout)) {
      const url = /http:\/\/[^\s/]+/.exec(line)?.[0]
      if (url !== undefined) return url
    }
  throw new Error('the server did not say its address')
}

/** Reads to the end, or to the line that contains `last`. */
export async function readLines(
  from: Readable | null,
  take: (text: string) => void,
  last?: string,
): Promise<void> {
  if (!from) return
  for await (const line of createInterface(from)) {
    take(line)
    if (last !== undefined && line.includes(last)) break
  }
  from.destroy()
}

/** The bytes of server-sent events. */
export async function stream(url: string): Promise<Readable> {
  const { body } = await fetch(url, { headers: { accept: 'text/event-stream' } })
  return Readable.from(body ?? [])
}

export async function post(url: string, body: object): Promise<{ id?: string }> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return JSON.parse(await response.text())
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** Asks again until the server answers, whatever it is. */
export async function untilListening(server: ChildProcess, url: string): Promise<void> {
  while (server.exitCode === null) {
    const answered = await fetch(url, { method: 'DELETE' }).catch(() => undefined)
    if (answered) return
    await setTimeout(20)
  }
  throw new Error(`the server of ${url} has exited`)
}
