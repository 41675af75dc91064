import { writeSync } from 'node:fs'
import { copy } from '../../src/daemon/copy-store.ts'

/** Copies a store, and writes a line after each page and each piece of a blob. */
const [from = '', to = ''] = process.argv.slice(2)
const summary = await copy(from, to, { progress: ({ phase }) => void writeSync(1, `${phase}\n`) })
writeSync(1, `${JSON.stringify(summary)}\n`)
