import { expect, test } from 'vitest'
import { boundedText } from '../../src/client/bounded-text.ts'
import { HttpTransport, MainstemClient } from '../../src/client/index.ts'
import { commandLine, ownCommand } from '../../src/client/stdio/own-command.ts'

const MEBIBYTE = new TextEncoder().encode('x'.repeat(1024 * 1024))

/** A response without an end, and how much of it was taken. */
function endless() {
  const taken = { chunks: 0, isCancelled: false }
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        taken.chunks++
        controller.enqueue(MEBIBYTE)
      },
      cancel() {
        taken.isCancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { response: new Response(body), taken }
}

test('a response without an end is given up, and its transfer ended', async () => {
  const { response, taken } = endless()
  await expect(boundedText(response, 3 * 1024 * 1024)).rejects.toMatchObject({ code: 'protocol_error' })
  expect(taken.isCancelled).toBe(true)
  expect(taken.chunks).toBeLessThan(8)
})

test.each([
  ['a call', (fetch: () => Promise<Response>) => new HttpTransport({ fetch }).list()],
  ['a call of the own API', (fetch: () => Promise<Response>) => new MainstemClient({ fetch }).agents()],
  ['an export', (fetch: () => Promise<Response>) => new MainstemClient({ fetch }).export('s').next()],
])('%s fails instead of filling the memory', async (_, call) => {
  const { response, taken } = endless()
  await expect(call(async () => response)).rejects.toMatchObject({ code: 'protocol_error' })
  expect(taken.chunks).toBeLessThan(70)
})

test.each([
  ['codex', ['exec', '--output-jsonl']],
  ['gemini', ['-p', '--output-format', 'stream-json']],
])('the line that the document prints for %s runs it through this package', (command, args) => {
  expect(commandLine(command, args)).toEqual([...ownCommand(), 'stdio'])
})

test('other lines run as they are', () => {
  expect(commandLine('codex', ['exec'])).toEqual(['codex', 'exec'])
  expect(commandLine('ssh', ['host', 'mainstem', 'stdio'])).toEqual(['ssh', 'host', 'mainstem', 'stdio'])
})
