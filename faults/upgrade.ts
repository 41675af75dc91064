import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { Host, SOURCES } from './crash/host.ts'
import { aligned } from './fenced.ts'
import { Upgraded } from './upgrade/upgraded.ts'

/**
 * `npm run faults -- upgrade --from REV`: the server of an older commit runs a session of each protocol that can ask, and is
 * killed while each waits for an answer. This version opens its data. Checks that every turn goes on in the same process
 * of the agent, takes the answer and completes, with the whole text and one notice. A shallow clone lacks the commit.
 */
const { values } = parseArgs({ options: { from: { type: 'string', default: 'HEAD~1' } } })

const home = mkdtempSync(join(tmpdir(), 'mainstem-upgrade-'))
const older = join(home, 'older')
mkdirSync(older)
const revision = git('rev-parse', '--short', `${values.from}^{commit}`).toString().trim()
execFileSync('tar', ['-x', '-C', older], { input: git('archive', '--format=tar', revision) })
symlinkSync(join(SOURCES, 'node_modules'), join(older, 'node_modules'))

const data = join(home, 'data')
mkdirSync(data)
const host = await Host.create(data, { program: 'serve', drainMs: 50 })
try {
  const upgraded = new Upgraded(host)
  await host.start({ passes: 0 }, join(older, 'src/cli/main.ts'))
  await upgraded.begin()
  const before = versionOf(data)
  host.signal('SIGKILL')
  await host.exited()
  await host.start()
  const rows = await upgraded.finish()
  console.log(aligned([['agent', 'outcome', 'what did not hold'], ...rows]))
  const lost = rows.filter(([, , problems]) => problems !== '-').length
  console.log(`from ${revision} (store ${before}) to this version (store ${versionOf(data)}):`)
  console.log(`${rows.length} turns, ${lost} broken`)
  process.exitCode = lost === 0 ? 0 : 1
} finally {
  if (process.exitCode !== 0) console.error(host.errors.join(''))
  host.signal('SIGTERM')
  await host.exited()
  rmSync(home, { recursive: true, force: true, maxRetries: 3 })
}

function git(...args: readonly string[]): Buffer {
  return execFileSync('git', args, { cwd: SOURCES, maxBuffer: 1024 ** 3 })
}

/** The number of migrations that the database has. */
function versionOf(folder: string): number {
  using db = new DatabaseSync(join(folder, 'log', 'mainstem.db'), { readOnly: true })
  return Number(db.prepare('PRAGMA user_version').get()?.user_version)
}
