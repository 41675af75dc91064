import type { Command } from 'commander'
import { examine, type StoreDamage, type StoreReport } from '../daemon/doctor.ts'
import { ERRORS } from '../model/index.ts'
import { printable } from './printable.ts'
import { Printer } from './printer.ts'

interface DoctorCommandFlags {
  data?: string
  config?: string
  json?: boolean
}

/** `mainstem doctor`: finds damaged data in the store of a server. */
export function registerDoctor(program: Command): void {
  program
    .command('doctor')
    .description('compare everything in the store with its checksums')
    .option('--data <dir>', 'data directory of the server')
    .option('--config <file>', 'configuration file')
    .option('--json', 'print one JSON object')
    .action(doctor)
}

async function doctor({ json, ...flags }: DoctorCommandFlags): Promise<void> {
  const report = await examine(flags)
  const text = json ? `${JSON.stringify(report)}\n` : reportText(report)
  await new Printer(process.stdout).print(text)
  if (report.damage.length > 0) process.exitCode = ERRORS.storage_failed.exit
}

function reportText({ file, sessions, checked, unchecked, damage }: StoreReport): string {
  const older = unchecked === 0 ? '' : `, ${unchecked} rows of an older version have no checksum`
  const lines = [
    `${file}: ${sessions} sessions, ${checked} rows compared with their checksums${older}`,
    ...damage.map(damageText),
    damage.length === 0 ? 'no damage found' : `${damage.length} damaged: restore a backup`,
    ...removals(damage),
  ]
  return printable(`${lines.join('\n')}\n`)
}

/** How to do without the damaged sessions where there is no backup. */
function removals(damage: readonly StoreDamage[]): string[] {
  const sessions = new Set(damage.flatMap(({ session }) => session ?? []))
  if (sessions.size === 0) return []
  return [
    'or delete the damaged sessions with the token of the server ($URL and $TOKEN):',
    ...[...sessions].map(
      (id) => `  curl -X DELETE -H "Authorization: Bearer $TOKEN" $URL/v1/sessions/${encodeURIComponent(id)}`,
    ),
  ]
}

function damageText({ file, what, session, first, last }: StoreDamage): string {
  const whose = session === undefined ? '' : ` of session ${session}`
  const entries = first === undefined ? '' : `, entries ${first} to ${last}`
  return `damaged: ${what}${whose}${entries} (${file})`
}
