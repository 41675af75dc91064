import type { Config } from '../../daemon/config.ts'
import { examine, type StoreDamage, type StoreReport } from '../../daemon/doctor.ts'
import { toMainstemError } from '../../model/outcome/error-table.ts'
import { type Check, ok, problem } from './check.ts'

export interface StoreCheck {
  checks: Check[]
  report?: StoreReport
}

/** Compares everything in the store with its checksums, also while a server uses it. */
export async function checkStore(config: Pick<Config, 'data' | 'store'>): Promise<StoreCheck> {
  try {
    const report = await examine(config)
    if (!report) return { checks: [ok('store', 'no sessions yet')] }
    return { checks: [...report.damage.map(damageCheck), summary(report)], report }
  } catch (thrown) {
    const { message, code } = toMainstemError(thrown)
    const fix =
      config.store?.url === undefined ? 'Restore a backup of the data directory.' : 'Correct store.url.'
    return { checks: [problem('store', `${message} (${code})`, fix)] }
  }
}

function summary({ file, sessions, checked, unchecked, damage }: StoreReport): Check {
  const older = unchecked === 0 ? '' : `, ${unchecked} rows of an older version have no checksum`
  const text = `${file}: ${sessions} ${sessions === 1 ? 'session' : 'sessions'}, ${checked} rows compared with their checksums${older}`
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
