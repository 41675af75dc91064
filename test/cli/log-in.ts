import { once } from 'node:events'
import { expect } from 'vitest'
import type { MainstemClient } from '../../src/client/index.ts'
import { loginCode } from '../../src/client/login-code.ts'
import type { Home } from './mainstem-process.ts'

interface Place {
  url: string
  /** The file of the certificate of the server. */
  ca: string
}

/** Logs in as a person does: the terminal shows a link, and the page allows it. Returns what was printed. */
export async function logIn(home: Home, { url, ca }: Place, page: MainstemClient): Promise<string> {
  const child = home.start(['login', url, '--ca', ca])
  let shown = ''
  for await (const piece of child.stderr.setEncoding('utf8')) {
    shown += piece
    const [, digest = '', name = ''] = /#login=([0-9a-f]{64})&name=(\S+)\n/.exec(shown) ?? []
    if (digest === '') continue
    expect(shown).toContain(`code ${loginCode(digest)}`)
    await page.addLogin({ digest, name: decodeURIComponent(name) })
    break
  }
  const [out] = await Promise.all([child.stdout.setEncoding('utf8').toArray(), once(child, 'exit')])
  expect(child.exitCode).toBe(0)
  return out.join('')
}
