/** A program that uses the library with a data directory, and prints every entry that it receives as a JSON line. */
import { writeSync } from 'node:fs'
import { mainstem } from '../../src/index.ts'

const [role = '', data = '', agent = '', lives = ''] = process.argv.slice(2)
/** Unbuffered, so that every line printed before a SIGKILL arrives. */
const print = (value: unknown) => writeSync(1, `${JSON.stringify(value)}\n`)

const stem = mainstem({ data, agents: { claude: { command: [process.execPath, agent, lives] } } })
if (role === 'work') {
  const session = await stem.session({ agent: 'claude', cwd: '/' })
  session.prompt('please ask')
  session.prompt('queued')
  for await (const entry of session.entries()) print(entry)
} else {
  const ids = await Array.fromAsync(stem.sessions(), ({ id }) => id)
  print({ ids })
  if (role === 'hold') process.stdin.resume()
}
