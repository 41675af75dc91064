import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import type { Run, RunExit } from '../../../src/drivers/driver.ts'
import { FrameQueue } from '../../../src/drivers/process/frame-queue.ts'
import { ServerRun } from '../../../src/drivers/server/server-run.ts'
import { ServerSecret } from '../../../src/drivers/server/server-secret.ts'
import { systemTimers } from '../../../src/drivers/timers.ts'
import { NO_VALUES } from '../../../src/model/text/large-value.ts'
import { fakeServer, Heard } from './server-runs.ts'

/** A program that says where others listen, and ends when it is told to. */
function programOf(port: string): { program: Run; end(exit: RunExit): void } {
  const exited = Promise.withResolvers<RunExit>()
  const frames = new FrameQueue(1024)
  frames.push([{ stream: 'stdout', text: `listening on http://127.0.0.1:${port}` }], 1)
  const done = async () => undefined
  return {
    program: { pid: undefined, frames, exit: exited.promise, write: done, stop: done },
    end(exit) {
      frames.close()
      exited.resolve(exit)
    },
  }
}

it('a connection that outlives the server does not delay the end', async () => {
  const other = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: hello\n\n')
  }).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = other.address()
  const { program, end } = programOf(typeof address === 'object' && address ? String(address.port) : '')
  const launch = fakeServer('plain')
  const server = new Heard(
    new ServerRun(program, {
      launch,
      secret: new ServerSecret(launch.login.user),
      values: NO_VALUES,
      maxEventBytes: 1024,
      timers: systemTimers,
      queueBytes: 1024,
      startMs: 10_000,
      callMs: 10_000,
    }),
  )
  await server.until('hello')
  end({ code: 0 })
  expect(await server.run.exit).toEqual({ code: 0 })
  await server.ended
  expect(server.of('sse')).toEqual(['hello'])
  other.closeAllConnections()
  other.close()
})
