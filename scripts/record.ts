import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { runCell } from '../conformance/cell.ts'
import { install } from '../conformance/install.ts'
import { cellsOf } from '../conformance/plan.ts'
import { nameOf } from '../conformance/results.ts'
import { redacted } from './redacted.ts'

// Plays one cell of the conformance run, and stores the output of the program as a fixture:
// node scripts/record.ts codex/live/set-model src/agents/codex/fixtures/codex/as_set_model
const [name = '', target = ''] = process.argv.slice(2)
const cell = cellsOf({ programs: [], scenarios: [], launches: [], ci: false }).find(
  ({ program, launch, scenario }) => {
    return nameOf({ program: program.id, launch, scenario: scenario.id }) === name
  },
)

if (!cell || target === '') {
  console.error('Usage: node scripts/record.ts <program>/<launch>/<scenario> <folder of the fixture>')
  process.exitCode = 2
} else {
  process.exitCode = await record(cell, resolve(target))
}

async function record(cell: Parameters<typeof runCell>[0], folder: string): Promise<number> {
  const installed = await install(cell.program)
  if ('failed' in installed) {
    console.error(installed.failed)
    return 1
  }
  const scratch = mkdtempSync(join(tmpdir(), 'mr-'))
  try {
    const words = [process.execPath, resolve('conformance/tee.ts'), cell.launch, folder, installed.command]
    const launcher = join(scratch, 'tee')
    writeFileSync(launcher, `#!/bin/sh\nexec ${words.map((word) => `'${word}'`).join(' ')} "$@"\n`, {
      mode: 0o755,
    })
    process.env.PATH = `${dirname(process.execPath)}:${process.env.PATH ?? ''}`
    const { state, reason = '' } = await runCell(cell, launcher, scratch)
    for (const path of globSync(`${folder}{,_*}/*`)) {
      writeFileSync(path, redacted(readFileSync(path, 'utf8'), scratch))
    }
    console.log(`${name}: ${state} ${reason}`)
    return 0
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
