import type { SessionOptions } from './options.types.ts'

/** The options that name directories outside of the working directory. */
const DIRECTORY_OPTIONS = ['extraDirectories', 'skills'] as const

/** The directories that the options name, with the field of each. */
export function optionDirectories(options: SessionOptions = {}): { directory: string; field: string }[] {
  return DIRECTORY_OPTIONS.flatMap((option) =>
    (options[option] ?? []).map((directory) => ({ directory, field: `options.${option}` })),
  )
}

/** Replaces each directory that the options name; `directory` throws for one that is not allowed. */
export async function withOptionDirectories(
  options: SessionOptions,
  directory: (path: string, field: string) => Promise<string>,
): Promise<SessionOptions> {
  const real = { ...options }
  for (const option of DIRECTORY_OPTIONS) {
    const paths = options[option]
    if (paths) real[option] = await Promise.all(paths.map((path) => directory(path, `options.${option}`)))
  }
  return real
}

/** Leaves out the directories that do not pass. */
export function onlyDirectories(
  options: SessionOptions,
  passes: (directory: string) => boolean,
): SessionOptions {
  const fewer = { ...options }
  for (const option of DIRECTORY_OPTIONS) if (fewer[option]) fewer[option] = fewer[option].filter(passes)
  return fewer
}
