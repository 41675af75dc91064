import type { Stats, StatsFs } from 'node:fs'
import { lstat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../daemon/config.ts'
import { survivalProblem } from '../../daemon/doctor.ts'
import { existingPart, OTHER_PLACE, whyUnwritable } from '../../daemon/write-failure.ts'
import { codeOf } from '../../model/outcome/mainstem-error.ts'
import { nodeComplaint } from '../node-version.ts'
import { type Check, ok, problem, warning } from './check.ts'

const MB = 1024 ** 2
const GB = 1024 ** 3

/** Free space below the first is a warning; below the second, commits are about to fail. */
const LITTLE_BYTES = GB
const NOTHING_BYTES = GB / 10

export function checkNode(version: string): Check {
  const complaint = nodeComplaint(version)
  if (complaint === undefined) return ok('node', `version ${version}`)
  return problem('node', complaint, 'Install a newer Node.')
}

const KEEP_LOG = 'Use a data directory on a local disk, and a `durability` that keeps the log.'

/** Whether agents work on when their server ends, and for how long. */
export function checkSurvival(config: Config): Check {
  const why = survivalProblem(config)
  if (why !== undefined) return warning('restarts', `agents end with their server: ${why}`, KEEP_LOG)
  const minutes = config.timeouts.orphanMs / 60_000
  return ok('restarts', `agents survive their server for ${minutes} min (timeouts.orphanMs)`)
}

/** Other users must not have access to the data directory and its token. */
export async function checkData(data: string): Promise<Check> {
  const directory = await statsOf(data)
  if (!directory)
    return (await unwritable(data)) ?? ok('data', `${data} does not exist yet; the first command creates it`)
  if (!directory.isDirectory())
    return problem('data', `${data} is not a directory`, 'Choose another with --data.')
  const found =
    unsafe(data, directory, 0o022, '700') ??
    (await unsafeFile(join(data, 'token'))) ??
    (await unwritable(data))
  return found ?? ok('data', data)
}

async function unsafeFile(path: string): Promise<Check | undefined> {
  const stats = await statsOf(path)
  return stats && unsafe(path, stats, 0o077, '600')
}

function unsafe(path: string, { uid, mode }: Stats, forbidden: number, wanted: string): Check | undefined {
  const us = process.getuid?.()
  if (us !== undefined && uid !== us)
    return problem('data', `${path} belongs to another user (${uid})`, `sudo chown -R ${us} ${path}`)
  if ((mode & forbidden) === 0) return undefined
  return problem('data', `${path} is open to other users`, `chmod ${wanted} ${path}`)
}

async function unwritable(data: string): Promise<Check | undefined> {
  const why = await whyUnwritable(data)
  return why === undefined ? undefined : problem('data', `${data} cannot be written: ${why}`, OTHER_PLACE)
}

type Space = Pick<StatsFs, 'bavail' | 'bsize' | 'blocks'>

const size = (bytes: number) =>
  bytes < NOTHING_BYTES ? `${(bytes / MB).toFixed(1)} MB` : `${(bytes / GB).toFixed(1)} GB`

/** The space where the store is, or will be. */
export async function checkDisk(data: string): Promise<Check> {
  return diskCheck(data, await statfs(await existingPart(data)))
}

export function diskCheck(data: string, { bavail, bsize, blocks }: Space): Check {
  const free = bavail * bsize
  const text = `${size(free)} of ${size(blocks * bsize)} free`
  const fix = `Free space, or set \`data\` in the configuration to a directory on another disk. The sessions use: du -sh ${data}`
  if (free < NOTHING_BYTES) return problem('disk', text, fix)
  return free < LITTLE_BYTES ? warning('disk', text, fix) : ok('disk', text)
}

const ABSENT: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'ENAMETOOLONG'])

async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path)
  } catch (thrown) {
    if (ABSENT.has(codeOf(thrown))) return undefined
    throw thrown
  }
}
