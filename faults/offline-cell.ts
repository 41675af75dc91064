import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Program } from '../conformance/programs.ts'
import { offlineEnvironment, type ScriptedModel, writeOfflineFiles } from '../src/testing/index.ts'

/** The folders and the variables of one real CLI that knows nothing but a scripted model. */
export async function offlineCell(
  { offline: files }: Pick<Program, 'offline'>,
  folder: string,
  model: ScriptedModel,
): Promise<{ cwd: string; env: Record<string, string> }> {
  const [home, cwd] = [join(folder, 'home'), join(folder, 'work')]
  await Promise.all([home, cwd].map((path) => mkdir(path, { recursive: true })))
  const offline = offlineEnvironment(files, model, home)
  await writeOfflineFiles(offline)
  return { cwd, env: { ...offline.env, PATH: process.env.PATH ?? '' } }
}
