import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { inspectStore, type StoreDamage, type StoreReport } from '../../daemon/doctor.ts'
import { toMainstemError } from '../../model/error-table.ts'
import { type Check, ok, problem } from './check.ts'

export interface StoreCheck {
  checks: Check[]
  report?: StoreReport
}

/** Compares everything in the store with its checksums, also while a server uses it. */
export async function checkStore(data: string): Promise<StoreCheck> {
  const directory = join(data, 'log')
  if (!existsSync(directory)) return { checks: [ok('store', 'no sessions yet')] }
  try {
    const report = await inspectStore(directory)
    return { checks: [...report.damage.map(damageCheck), summary(report)], report }
  } catch (thrown) {
    const { message, code } = toMainstemError(thrown)
    return { checks: [problem('store', `${message} (${code})`, 'Restore a backup of the data directory.')] }
  }
}

function summary({ file, sessions, checked, unchecked, damage }: StoreReport): Check {
  const older = unchecked === 0 ? '' : `, ${unchecked} rows of an older version have no checksum`
  const text = `${file}: ${sessions} sessions, ${checked} rows compared with their checksums${older}`
  if (damage.length === 0) return ok('store', `${text}, no damage found`)
  return problem(
    'store',
    `${text}, ${damage.length} damaged`,
    'Restore a backup, or delete the damaged sessions.',
  )
}

function damageCheck({ file, what, session, first, last }: StoreDamage): Check {
  const whose = session === undefined ? '' : ` of session ${session}`
  const entries = first === undefined ? '' : `, entries ${first} to ${last}`
  // By id, because a damaged session is not in any list.
  const fix = session === undefined ? 'Restore a backup.' : `Restore a backup, or: mainstem rm ${session}`
  return problem('store', `damaged: ${what}${whose}${entries} (${file})`, fix)
}
