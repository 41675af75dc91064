import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import type { Command } from 'commander'
import { type DecodeRequest, decodeRecording, type RecordedExit, statsOf } from '../compose/decode.ts'
import { dialects } from '../dialects/index.ts'
import { LaunchKind, MainstemError } from '../model/index.ts'
import { jsonOn } from './printable.ts'
import { showAs } from './show.ts'

interface DecodeFlags {
  agent: string
  launch?: string
  to: string
  exit?: string
  stderr?: string
  stats?: boolean
}

export function registerDecode(program: Command): void {
  program
    .command('decode')
    .description('translate recorded output of an agent into events')
    .argument(
      '[file]',
      'native lines, or a transcript of both directions; standard input if left out or "-"',
      '-',
    )
    .requiredOption('--agent <id>', 'the agent that wrote it')
    .option('--launch <kind>', 'how the agent was run: oneshot or live')
    .option('--to <dialect>', `one of ${[...dialects.keys()].join(', ')}`, 'mainstem')
    .option('--exit <file>', 'JSON with the code and signal that the process ended with')
    .option('--stderr <file>', 'what the process wrote to standard error')
    .option('--stats', 'print one object of counts instead')
    .action(decode)
}

async function decode(file: string, flags: DecodeFlags): Promise<void> {
  const dialect = dialects.get(flags.to)
  if (!dialect) throw new MainstemError('invalid_request', `--to: there is no dialect "${flags.to}"`)
  const replayed = decodeRecording(await requestOf(file, flags))
  const { stdout } = process
  if (flags.stats) stdout.write(`${jsonOn(stdout, statsOf(replayed))}\n`)
  else stdout.write(replayed.entries.map(showAs(dialect, stdout)).join(''))
}

async function requestOf(file: string, flags: DecodeFlags): Promise<DecodeRequest> {
  const launch = flags.launch === undefined ? undefined : LaunchKind.safeParse(flags.launch)
  if (launch && !launch.success) throw new MainstemError('invalid_request', '--launch is oneshot or live')
  return {
    agent: flags.agent,
    launch: launch?.data,
    stdout: [file === '-' ? await buffer(process.stdin) : await readFile(file)],
    stderr: flags.stderr === undefined ? undefined : [await readFile(flags.stderr)],
    exit: flags.exit === undefined ? undefined : await readExit(flags.exit),
  }
}

async function readExit(file: string): Promise<RecordedExit> {
  const value: unknown = JSON.parse(await readFile(file, 'utf8'))
  if (typeof value !== 'object' || value === null)
    throw new MainstemError('invalid_request', '--exit: not an object')
  return value
}
