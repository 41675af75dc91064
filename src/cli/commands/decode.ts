import { buffer } from 'node:stream/consumers'
import { type DecodeRequest, decodeRecording, type RecordedExit, statsOf } from '../../compose/decode.ts'
import { dialects } from '../../dialects/index.ts'
import { LaunchKind, MainstemError } from '../../model/index.ts'
import { readNamed } from '../named-path.ts'
import { printableJson } from '../render/printable.ts'
import { showAs } from '../render/show.ts'

export interface DecodeFlags {
  agent: string
  launch?: string
  to: string
  exit?: string
  stderr?: string
  stats?: boolean
}

/** `mainstem decode`: recorded output of an agent as events. */
export async function decode(file: string, flags: DecodeFlags): Promise<void> {
  const dialect = dialects.get(flags.to)
  if (!dialect) throw new MainstemError('invalid_request', `--to: there is no dialect "${flags.to}"`)
  const replayed = decodeRecording(await requestOf(file, flags))
  const { stdout } = process
  if (flags.stats) stdout.write(`${printableJson(statsOf(replayed))}\n`)
  else stdout.write(replayed.entries.map(showAs(dialect)).join(''))
}

async function requestOf(file: string, flags: DecodeFlags): Promise<DecodeRequest> {
  const launch = flags.launch === undefined ? undefined : LaunchKind.safeParse(flags.launch)
  if (launch && !launch.success) throw new MainstemError('invalid_request', '--launch is oneshot or live')
  return {
    agent: flags.agent,
    launch: launch?.data,
    stdout: [file === '-' ? await buffer(process.stdin) : await readNamed(file)],
    stderr: flags.stderr === undefined ? undefined : [await readNamed(flags.stderr, '--stderr')],
    exit: flags.exit === undefined ? undefined : await readExit(flags.exit),
  }
}

async function readExit(file: string): Promise<RecordedExit> {
  const value = parsed((await readNamed(file, '--exit')).toString('utf8'))
  if (typeof value !== 'object' || value === null)
    throw new MainstemError('invalid_request', `--exit: ${file} is not a JSON object`)
  return value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Reported like any other value that is not an object.
    return undefined
  }
}
