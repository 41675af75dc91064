// Stands in for the claude program: reads its task, plays a recording, and then ends, or hangs when told to.
import { readFileSync } from 'node:fs'

const [recording, then] = process.argv.slice(2)
for await (const _ of process.stdin);
process.stdout.write(readFileSync(recording))
// Not for ever: should its server be killed, nobody else would end it.
if (then === 'hang') setTimeout(() => process.exit(1), 60_000)
