import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { socketPair } from '../../src/drivers/socket-pair.ts'
import { expectNothingLeft, readAll, startFake } from './fake-run.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pair-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
  vi.unstubAllEnvs()
})

/** Longer than what the system takes for the path of a socket. */
const LONG = 'x'.repeat(120)

describe('a pair of sockets', () => {
  it('brings what a child prints, in order and whole, and then ends', async () => {
    const pair = await socketPair(join(folder, 'out'))
    if (!pair) throw new Error('no pair')
    spawn('seq', ['200000'], { stdio: ['ignore', pair.theirs, 'ignore'] })
    pair.theirs.destroy()
    const chunks: string[] = []
    // The memory is used again: kept, a chunk would turn into a later one.
    pair.ours.on('data', (chunk) => chunks.push(String(chunk)))
    await new Promise((resolve) => pair.ours.once('end', resolve))
    expect(chunks.join('')).toBe(Array.from({ length: 200_000 }, (_, index) => `${index + 1}\n`).join(''))
  })

  it('reads nothing while it is paused, so that the child has to wait', async () => {
    const pair = await socketPair(join(folder, 'out'))
    if (!pair) throw new Error('no pair')
    let bytes = 0
    pair.ours.on('data', (chunk) => {
      bytes += chunk.length
      pair.ours.pause()
      setImmediate(() => {
        expect(bytes).toBe(before + chunk.length)
        before = bytes
        pair.ours.resume()
      })
    })
    let before = 0
    spawn('head', ['-c', '1000000', '/dev/zero'], { stdio: ['ignore', pair.theirs, 'ignore'] })
    pair.theirs.destroy()
    await new Promise((resolve) => pair.ours.once('close', resolve))
    expect(bytes).toBe(1_000_000)
  })

  it('leaves nothing in its directory, where somebody else could find it', async () => {
    const making = socketPair(join(folder, 'out'))
    expect(readdirSync(folder)).toEqual([])
    const pair = await making
    expect(readdirSync(folder)).toEqual([])
    pair?.ours.destroy()
    pair?.theirs.destroy()
  })

  it.each([
    ['a directory that is not there', () => join(folder, 'missing', 'out')],
    ['a path that is too long for a socket', () => join(folder, LONG)],
    ['a path where something is already', () => folder],
  ])('is not made in %s', async (_name, path) => {
    expect(await socketPair(path())).toBeUndefined()
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('a run', () => {
  afterEach(expectNothingLeft)

  it('needs none: below a long path its output comes through an ordinary pipe', async () => {
    mkdirSync(join(folder, LONG))
    vi.stubEnv('TMPDIR', join(folder, LONG))
    const run = startFake('flood', '2000')
    const frames = await readAll(run)
    expect(await run.exit).toEqual({ code: 0 })
    expect(frames).toHaveLength(2_000)
  })
})
