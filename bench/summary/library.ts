import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { least } from '../least.ts'
import { claudeStream, codexStream } from '../library-streams.ts'
import { sdkFolder } from '../sdks.ts'
import type { Row } from './row.ts'

const ROUNDS = 2
const LINES = 50_000
const WORKER = join(import.meta.dirname, '../library-worker.ts')

/** Turns through the library of a checkout, beside the SDK of the agent, with short messages and with one long one. */
export async function library(checkout: string): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'mainstem-bench-'))
  try {
    const streams = [claudeStream(2, LINES), claudeStream(LINES, LINES), codexStream(LINES)]
    return streams.flatMap(({ agent, shape, launch, lines }) => {
      const file = join(folder, 'stream.jsonl')
      writeFileSync(file, `${lines.join('\n')}\n`)
      const sdks = sdkFolder(agent) ?? ''
      const found: Record<string, number[]> = { all: [], unread: [], sdk: [] }
      for (let round = 0; round < ROUNDS; round++)
        for (const [mode, all] of Object.entries(found))
          if (mode !== 'sdk' || sdks)
            all.push(microsOf(mode, agent, launch, file, sdks, join(checkout, 'dist/index.js')))
      const { all = [], unread = [], sdk = [] } = found
      const what = `library, ${agent} ${launch}, ${shape}`
      return [
        { what: `${what}: all kept, × its SDK`, value: least(all) / least(sdk) },
        { what: `${what}: unread kept, × its SDK`, value: least(unread) / least(sdk) },
      ]
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function microsOf(...args: string[]): number {
  return JSON.parse(execFileSync(process.execPath, [WORKER, ...args], { encoding: 'utf8' })).micros
}
