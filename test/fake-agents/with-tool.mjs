// An agent with a tool in a session of its own. Both ignore the end of their input, and the agent ignores SIGTERM.
import { spawn } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'

const [report] = process.argv.slice(2)
process.on('SIGINT', () => undefined)
process.on('SIGTERM', () => undefined)
const tool = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
writeFileSync(
  `${report}.part`,
  JSON.stringify({ agent: process.pid, tool: tool.pid, folder: process.env.TMPDIR }),
)
renameSync(`${report}.part`, report)
// Not for ever, in case the test fails.
setTimeout(() => process.exit(1), 120_000)
