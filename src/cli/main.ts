#!/usr/bin/env node
import { quietSqlite } from '../compose/quiet.ts'
import { nodeComplaint } from './node-version.ts'

const complaint = nodeComplaint(process.versions.node)
if (complaint === undefined) {
  quietSqlite()
  // Loaded late: an old Node breaks on these imports before it could say why.
  const { main } = await import('./program.ts')
  await main()
} else {
  process.stderr.write(`${complaint}\n`)
  process.exitCode = 1
}
