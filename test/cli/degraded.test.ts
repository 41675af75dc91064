import { readFileSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { StorageCheck } from '../../src/gateway/http/storage-check.ts'
import { MainstemError } from '../../src/model/index.ts'
import { begin } from '../gateway/api.ts'
import { script, success, text } from '../gateway/puppet.ts'
import { startGateway, TOKEN } from '../gateway/start.ts'
import { Home } from './mainstem-process.ts'

const VERSION: string = JSON.parse(readFileSync('package.json', 'utf8')).version

const home = new Home()
home.env.MAINSTEM_TOKEN = TOKEN
afterAll(() => home[Symbol.asyncDispose]())

test('attach says that the server cannot write its store, and when it can again, and follows the turn to its end', async () => {
  let [now, isFailing] = [0, false]
  const probe = async () => {
    if (isFailing) throw new MainstemError('storage_failed', 'the disk is full')
  }
  const storage = new StorageCheck({ probe, report: () => undefined }, () => (now += 10_000))
  await using server = await startGateway({ storage, version: VERSION })
  const become = async (failing: boolean) => {
    isFailing = failing
    await storage.run().catch((thrown: unknown) => thrown)
  }
  const id = await begin(server, {
    prompt: script(text('a', 'one'), { ...text('b', 'two'), wait: true }, success),
  })
  await server.gate.reached()
  const child = home.start(['attach', id, '--server', server.url])
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (out += piece))
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (err += piece))
  const exited = new Promise((resolve) => child.once('exit', resolve))
  await expect.poll(() => server.deps.streams.open).toBe(1)
  await become(true)
  await expect
    .poll(() => err)
    .toMatch(/warning: since .+, the store is not writable; see the server log; no turn makes progress\n/)
  await become(false)
  await expect.poll(() => err).toContain('the server can write its store again\n')
  await server.gate.open()
  expect(await exited, err).toBe(0)
  expect(out).toContain('two')
  expect(err.match(/no turn makes progress/g)).toHaveLength(1)
})
