// Shows that it was started.
import { writeFileSync } from 'node:fs'

writeFileSync(process.argv[2], '')
