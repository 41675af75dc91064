import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Program } from './programs.ts'
import type { Project } from './project.ts'

const run = promisify(execFile)

const RESOLUTIONS = {
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
}
const NAMES = ['nodenext', 'bundler'] as const

/** The programs of the pages. Those that import from Node are compiled without the types of a browser. */
const PAGES = { target: 'es2024', types: ['node'], skipLibCheck: true }
const PAGE_LIBRARY = ['es2024', 'esnext.disposable']

/** Our declarations themselves are checked, with an old library and with or without the types of Node. */
const OLD_LIBRARY = { target: 'es2022', skipLibCheck: false }
const DECLARATIONS = {
  node: { ...OLD_LIBRARY, lib: ['es2022'], types: ['node'] },
  browser: { ...OLD_LIBRARY, lib: ['es2022', 'dom'], types: [] },
}

/** Imports each entry of the package, and uses what needs a newer library: disposal. */
function entriesProgram(entries: readonly string[]): string {
  const imports = entries.map((entry, index) => `import * as entry${index} from '${entry}'`)
  const uses = `export const all = [${entries.map((_, index) => `entry${index}`).join(', ')}]`
  const dispose = `import { mainstem } from 'mainstem'\nexport const end = () => mainstem()[Symbol.asyncDispose]()`
  return [...imports, uses, dispose, ''].join('\n')
}

async function compile(project: Project, tsc: string, name: string, config: object): Promise<void> {
  const path = join(project.folder, 'tsconfig.json')
  writeFileSync(path, JSON.stringify(config))
  await run(process.execPath, [tsc, '-p', path], { cwd: project.folder }).catch((failed) => {
    throw new Error(`${name}:\n${failed.stdout}`)
  })
}

/** Compiles the programs of the pages and the declarations of all entries with a TypeScript. */
export async function checkTypes(
  project: Project,
  { entries, programs }: { entries: readonly string[]; programs: readonly Program[] },
  compiler: string,
): Promise<void> {
  const tsc = join(compiler, 'bin/tsc')
  const strict = { strict: true, exactOptionalPropertyTypes: true, noEmit: true }
  writeFileSync(join(project.folder, 'entries.mts'), entriesProgram(entries))
  for (const name of NAMES) {
    const resolution = { ...RESOLUTIONS[name], ...strict }
    for (const dom of [true, false]) {
      const lib = dom ? [...PAGE_LIBRARY, 'dom'] : PAGE_LIBRARY
      const files = programs
        .filter(({ text }) => text.includes(" from 'node:") !== dom)
        .map(({ file }) => file)
      const compilerOptions = { ...resolution, ...PAGES, lib }
      await compile(project, tsc, `${name}, pages`, { compilerOptions, files })
    }
    for (const [kind, options] of Object.entries(DECLARATIONS)) {
      const compilerOptions = { ...resolution, ...options }
      await compile(project, tsc, `${name}, declarations, ${kind}`, {
        compilerOptions,
        files: ['entries.mts'],
      })
    }
  }
}
