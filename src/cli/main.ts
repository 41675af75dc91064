#!/usr/bin/env node
import { quietSqlite } from '../compose/quiet.ts'
import { nodeComplaint } from './node-version.ts'

const complaint = nodeComplaint(process.versions.node)
if (complaint === undefined) {
  quietSqlite()
  process.setSourceMapsEnabled(true)
  // Imported late: an old Node would fail on these imports before the version check.
  const { main } = await import('./program.ts')
  await main()
} else {
  process.stderr.write(`${complaint}\n`)
  process.exitCode = 1
}
