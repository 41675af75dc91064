import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/**
 * What a commit of one entry and its raw frame costs the system. Counts depend little on the machine, unlike times. If a
 * commit needs more for a reason, change the figure; if it needs much less, lower it.
 */
const BASELINE: Record<string, number> = JSON.parse(readFileSync('test/commit-counts.json', 'utf8'))

/** A wide margin: threads of a busy machine wait more often. */
const MARGIN = 2
const COMMITS = 200
const CHILD = join(import.meta.dirname, 'commit-counts-child.ts')

test.runIf(process.platform === 'linux')(
  'a commit of one entry makes about as many calls and waits as its baseline',
  () => {
    const directory = mkdtempSync(join(tmpdir(), 'counts-'))
    try {
      const args = [CHILD, join(directory, 'log'), String(COMMITS)]
      const counts: Record<string, number> = JSON.parse(
        execFileSync(process.execPath, args, { encoding: 'utf8' }),
      )
      expect(Object.keys(counts)).toEqual(Object.keys(BASELINE))
      for (const [name, count] of Object.entries(counts))
        expect(count, `${name} a commit`).toBeLessThanOrEqual((BASELINE[name] ?? 0) * MARGIN)
    } finally {
      rmSync(directory, { recursive: true, maxRetries: 3 })
    }
  },
)
