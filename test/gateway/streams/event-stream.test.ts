import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { EventStream } from '../../../src/gateway/streams/event-stream.ts'
import type { StreamFormat } from '../../../src/gateway/streams/format.ts'

const FORMAT = { type: 'text/event-stream', keepalive: ': ping\n\n' } as StreamFormat
const TIMING = { keepaliveMs: 60_000, stallMs: 60_000 }

const server = createServer()
afterEach(() => server.close())

/** A request over a real connection, before its stream has begun. */
async function request() {
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  const [, response]: [unknown, ServerResponse] = (await once(server, 'request')) as [unknown, ServerResponse]
  return { client, response }
}

const streamTo = (response: ServerResponse) => new EventStream(response, FORMAT, {}, TIMING)

describe('a reader', () => {
  test('that is gone before its stream begins has a stream that is over', async () => {
    const { client, response } = await request()
    client.destroy()
    await once(response, 'close')
    const stream = streamTo(response)
    expect(stream.signal.aborted).toBe(true)
    await stream.write('data: 1\n\n')
    stream.end()
  })

  test('that goes while it reads ends its stream', async () => {
    const { client, response } = await request()
    const stream = streamTo(response)
    expect(stream.signal.aborted).toBe(false)
    client.destroy()
    await once(stream.signal, 'abort')
    await stream.write('data: 1\n\n')
    stream.end()
  })

  test('that stays gets what is written, and the end', async () => {
    const { client, response } = await request()
    const stream = streamTo(response)
    await stream.write('data: 1\n\n')
    stream.end()
    let text = ''
    for await (const chunk of client) text += String(chunk)
    expect(text).toContain('data: 1\n\n')
    expect(text).toContain('connection: close')
  })
})
