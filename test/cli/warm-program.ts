/**
 * Runs one command line after another in one process, because a process of its own spends most of its time on loading.
 * A parent sends a `WarmCommand`, and reads the output up to the mark.
 */
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { quietSqlite } from '../../src/compose/quiet.ts'
import { MAIN } from '../built-program.ts'

export interface WarmCommand {
  args: readonly string[]
  env: Record<string, string | undefined>
  cwd: string
  /** Standard input; `null` leaves it open and silent. */
  input: string | null
  /** Ends the output of the command, on both streams. */
  mark: string
}

quietSqlite()
const { main }: typeof import('../../src/cli/program.ts') = await import(join(dirname(MAIN), 'program.js'))

// Each command adds a listener, and a process of its own runs one.
for (const stream of [process.stdout, process.stderr]) stream.setMaxListeners(0)

process.on('message', async ({ args, env, cwd, input, mark }: WarmCommand) => {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.chdir(cwd)
  process.argv.splice(2, process.argv.length, ...args)
  process.exitCode = undefined
  const stdin = new PassThrough()
  if (input !== null) stdin.end(input)
  Object.defineProperty(process, 'stdin', { value: stdin, configurable: true })
  await main()
  const code = process.exitCode ?? 0
  process.stdout.write(mark)
  process.stderr.write(`${code}${mark}`)
})
process.on('disconnect', () => process.exit())
