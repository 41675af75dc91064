import { once } from 'node:events'
import { createServer } from 'node:net'
import { addressIn } from '../../daemon/address-file.ts'
import { adviceFor, toMainstemError } from '../../model/outcome/error-table.ts'
import { codeOf } from '../../model/outcome/mainstem-error.ts'
import { findServer, OUR_VERSION } from '../daemon/connect.ts'
import type { LocalFlags } from '../daemon/data-directory.ts'
import { type Check, ok, problem, warning } from './check.ts'

/** The daemon of the data directory, which is not started for this. */
export async function checkDaemon(flags: LocalFlags): Promise<Check> {
  try {
    const found = await findServer(flags)
    if (!found) return ok('daemon', `not running; the next command starts it (version ${OUR_VERSION})`)
    const { version, pid } = found.info
    if (version === OUR_VERSION) return ok('daemon', `version ${version}, process ${pid}`)
    return problem(
      'daemon',
      `process ${pid} has version ${version}, and this is version ${OUR_VERSION}`,
      'mainstem restart',
    )
  } catch (thrown) {
    const error = toMainstemError(thrown)
    return problem('daemon', `cannot be used: ${error.message} (${error.code})`, adviceFor(error))
  }
}

/** The port of `mainstem serve`. Other commands use a socket, so a port that is taken is no problem for them. */
export async function checkPort(host: string, port: number, data: string): Promise<Check> {
  const name = `port ${port}`
  const taken = await takenBy(host, port)
  if (taken === undefined) return ok(name, `free on ${host}`)
  if ((await addressIn(data))?.endsWith(`:${port}`))
    return ok(name, 'used by the server of this data directory')
  return warning(name, `mainstem serve cannot listen on ${host}: ${taken}`, 'mainstem serve --port 0')
}

async function takenBy(host: string, port: number): Promise<string | undefined> {
  const server = createServer()
  try {
    server.listen({ host, port, exclusive: true })
    await once(server, 'listening')
    return undefined
  } catch (thrown) {
    return codeOf(thrown) === 'EADDRINUSE' ? 'another program uses it' : String(codeOf(thrown) ?? thrown)
  } finally {
    server.close()
  }
}
