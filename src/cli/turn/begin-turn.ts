import { extname, resolve } from 'node:path'
import type { BeginSession, MainstemClient, SessionRecord } from '../../client/index.ts'
import type { Image, Policy, SessionOptions } from '../../model/index.ts'
import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import type { PolicyFlags, RunFlags } from '../commands/run.ts'
import type { ConnectedServer } from '../contexts/connect.ts'
import { refusedDirectory, remoteDirectory } from '../contexts/remote-directory.ts'
import { callerKeys } from '../daemon/caller-keys.ts'
import { readNamed, workingDirectory } from '../named-path.ts'
import { allSessions, sessionOf } from './session-ref.ts'

/** A started turn, and the cursor to show it from. */
export interface BegunTurn {
  session: string
  name: string | undefined
  cwd: string
  turn: number
  after: number
  /** The agent gets variables of this terminal. */
  passesKeys?: boolean
}

/** Begins a turn: in a new session, or in the one that `--continue` or `--resume` names. */
export async function beginTurn(
  { client, ...server }: Pick<ConnectedServer, 'client'> & Partial<ConnectedServer>,
  agent: string,
  prompt: string,
  flags: RunFlags,
  attended: boolean,
): Promise<BegunTurn> {
  const cwd = await directoryOf(server, flags.cwd)
  const images = await imagesOf(flags.image)
  const earlier = await earlierSession(client, agent, cwd, flags)
  if (earlier && earlier.status !== 'ended')
    return continueIn({ client, ...server }, earlier, prompt, images, flags)
  const options: SessionOptions = {
    ...(flags.model !== undefined && { model: flags.model }),
    ...(flags.fallbackModel !== undefined && { fallbackModel: flags.fallbackModel }),
    ...(flags.subagents !== undefined && { subagents: await objectIn(flags.subagents, '--subagents') }),
    ...(flags.skill && { skills: skillsOf(server, flags.skill) }),
    ...(images && { images }),
    ...(flags.onLimit !== undefined && { onLimit: flags.onLimit }),
    ...(flags.onLost !== undefined && { onLost: flags.onLost }),
    ...(flags.schema !== undefined && { outputSchema: await objectIn(flags.schema, '--schema') }),
  }
  const policy = policyOf(flags)
  const resume = earlier && nativeIdOf(earlier)
  const keys = callerKeys(server, agent)
  const body: BeginSession = {
    agent,
    cwd: earlier?.cwd ?? cwd,
    prompt,
    attended,
    ...(flags.launch && { launch: flags.launch }),
    ...(Object.keys(policy).length > 0 && { policy }),
    ...(Object.keys(options).length > 0 && { options }),
    ...(flags.name !== undefined && { name: flags.name }),
    ...(flags.worktree !== undefined && { worktree: flags.worktree }),
    ...(resume !== undefined && { resume }),
    ...(keys && { keys }),
  }
  const {
    id,
    turn = 1,
    ...begun
  } = await client.begin(body).catch((thrown: unknown) => {
    throw refusedDirectory(server, flags.cwd, thrown)
  })
  return { session: id, name: flags.name, cwd: begun.cwd, turn, after: 0, passesKeys: keys !== undefined }
}

/** The directory of a new session: on this machine, or on that of the server. */
async function directoryOf(
  { info, remote }: Partial<ConnectedServer>,
  cwd: string | undefined,
): Promise<string> {
  return remote && info ? remoteDirectory(remote, info, cwd) : workingDirectory(cwd ?? '.')
}

/** Flags of a new session. */
const FIXED = [
  ['--schema', 'schema'],
  ['--launch', 'launch'],
  ['--name', 'name'],
  ['--worktree', 'worktree'],
  ['--fallback-model', 'fallbackModel'],
  ['--subagents', 'subagents'],
  ['--skill', 'skill'],
] as const

async function continueIn(
  { client, ...server }: Pick<ConnectedServer, 'client'> & Partial<ConnectedServer>,
  record: SessionRecord,
  prompt: string,
  images: Image[] | undefined,
  flags: RunFlags,
): Promise<BegunTurn> {
  const fixed = FIXED.find(([, name]) => flags[name] !== undefined)
  if (fixed !== undefined) {
    throw new MainstemError('invalid_request', `${fixed[0]} can only be chosen for a new session`, {
      advice: `Leave out ${fixed[0]}, or begin a new session.`,
    })
  }
  const { id, name, head } = record
  const policy = policyOf(flags)
  if (Object.keys(policy).length > 0) await client.setMode(id, { policy: { ...record.policy, ...policy } })
  if (flags.model !== undefined) await client.setModel(id, flags.model)
  const keys = callerKeys(server, record.agent)
  const turn = await client.prompt(id, prompt, images, undefined, keys)
  return { session: id, name, cwd: record.cwd, turn, after: head, passesKeys: keys !== undefined }
}

async function earlierSession(
  client: MainstemClient,
  agent: string,
  cwd: string,
  flags: RunFlags,
): Promise<SessionRecord | undefined> {
  if (flags.resume !== undefined) {
    const found = await sessionOf(client, flags.resume)
    if (found.agent === agent) return found
    throw new MainstemError(
      'invalid_request',
      `session ${flags.resume} belongs to ${found.agent}, not to ${agent}`,
      {
        advice: `Run \`mainstem run ${found.agent} --resume ${flags.resume}\`.`,
      },
    )
  }
  if (!flags.continue) return undefined
  const found = (await allSessions(client)).find((one) => one.agent === agent && one.cwd === cwd)
  if (found) return found
  throw new MainstemError('session_not_found', `${agent} has no session in ${cwd}`, {
    advice: 'Leave out --continue to begin one, or list all with `mainstem ls --all`.',
  })
}

function nativeIdOf({ id, nativeSessionId }: SessionRecord): string {
  if (nativeSessionId !== undefined) return nativeSessionId
  throw new MainstemError(
    'conflict',
    `session ${id} has ended, and its agent has no conversation to continue`,
    {
      advice: 'Begin a new session.',
    },
  )
}

/** Sends only the given options; the configuration of the daemon decides the rest. */
export function policyOf(flags: PolicyFlags): Partial<Policy> {
  const { approval, sandbox, allowTool, denyTool, maxTurns, maxCost, timeout } = flags
  const tools = { ...(allowTool && { preapproved: allowTool }), ...(denyTool && { denied: denyTool }) }
  return {
    ...(approval && { approval }),
    ...(sandbox && { sandbox }),
    ...(Object.keys(tools).length > 0 && { tools }),
    ...(maxTurns !== undefined && { maxSteps: maxTurns }),
    ...(maxCost !== undefined && { maxBudgetUsd: maxCost }),
    ...(timeout !== undefined && { timeoutMs: Math.ceil(timeout * 1000) }),
  }
}

const IMAGE_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
}

async function imagesOf(files: readonly string[] | undefined): Promise<Image[] | undefined> {
  if (!files) return undefined
  return Promise.all(
    files.map(async (file) => {
      const mimeType = IMAGE_TYPES[extname(file).toLowerCase()]
      if (mimeType === undefined) {
        throw new MainstemError('invalid_request', `--image: the kind of ${file} is unknown`, {
          advice: `Use one of ${Object.keys(IMAGE_TYPES).join(', ')}.`,
        })
      }
      return { mimeType, data: (await readNamed(file, '--image')).toString('base64') }
    }),
  )
}

/** Directories of this machine, or names on that of the server. */
function skillsOf({ remote }: Partial<ConnectedServer>, skills: readonly string[]): string[] {
  return skills.map((skill) => (remote ? skill : resolve(skill)))
}

/** The JSON object in a file. The server checks its content. */
async function objectIn<T extends object>(file: string, option: string): Promise<T> {
  const text = (await readNamed(file, option)).toString('utf8')
  let value: T
  try {
    value = JSON.parse(text)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new MainstemError('invalid_request', `${option}: ${file} is not valid JSON: ${why}`, undefined, {
      cause,
    })
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new MainstemError('invalid_request', `${option}: ${file} is not a JSON object`)
}
