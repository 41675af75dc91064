/**
 * npm leaves out of the lockfile what a registry mirror has not got for other platforms, and `npm ci` then
 * refuses the whole file. This names those packages, so that one lockfile installs on every platform.
 */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'

interface Locked {
  version?: string
  integrity?: string
  link?: boolean
  cpu?: string[]
  dev?: boolean
  libc?: string[]
  optional?: boolean
  os?: string[]
  optionalDependencies?: Record<string, string>
}

export interface Lockfile {
  packages: Record<string, Locked>
}

const OPERATING_SYSTEMS = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
]
const PROCESSORS = [
  'arm',
  'arm64',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'wasm32',
  'x64',
]

/** Platform packages carry their platform in their name: `@biomejs/cli-linux-x64-musl`. */
function platformOf(name: string): Pick<Locked, 'cpu' | 'libc' | 'os'> {
  const words = name.split(/[-/]/)
  const cpu = words.filter((word) => PROCESSORS.includes(word))
  const os = words.filter((word) => OPERATING_SYSTEMS.includes(word))
  const libc = words.flatMap((word) =>
    word.startsWith('musl') ? ['musl'] : word.startsWith('gnu') ? ['glibc'] : [],
  )
  return { ...(cpu.length > 0 && { cpu }), ...(libc.length > 0 && { libc }), ...(os.length > 0 && { os }) }
}

/** Optional packages that some locked package wants and the lockfile does not name. */
export function missingPackages(lock: Lockfile): Record<string, Locked> {
  const missing: Record<string, Locked> = {}
  for (const [path, locked] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(locked.optionalDependencies ?? {})) {
      const hoisted = `node_modules/${name}`
      if (lock.packages[hoisted] || lock.packages[`${path}/${hoisted}`]) continue
      const { cpu, libc, os } = platformOf(name)
      // The fields in the order of npm, so that its next run changes nothing.
      missing[hoisted] = {
        version,
        ...(cpu && { cpu }),
        ...(locked.dev && { dev: true }),
        ...(libc && { libc }),
        optional: true,
        ...(os && { os }),
      }
    }
  }
  return missing
}

/** The packages without a hash of their content, by path. A link has none. */
export function unhashed({ packages }: Lockfile): string[] {
  return Object.entries(packages).flatMap(([path, { integrity, link }]) =>
    path.includes('node_modules/') && integrity === undefined && !link ? [path] : [],
  )
}

/** Asks the registry for the hashes that npm did not write. Some mirrors have no packages of other platforms. */
async function addHashes(packages: Lockfile['packages']): Promise<void> {
  for (const path of unhashed({ packages })) {
    const { version, ...others } = packages[path] ?? {}
    const name = `${path.split('node_modules/').at(-1)}@${version}`
    const asked = promisify(execFile)('npm', ['view', name, 'dist.integrity'])
    const integrity = await asked.then(
      ({ stdout }) => stdout.trim(),
      () => '',
    )
    // Where npm writes it.
    if (integrity !== '') packages[path] = { ...(version !== undefined && { version }), integrity, ...others }
    else console.log(`the registry has no ${name}`)
  }
}

if (import.meta.main) {
  const lock: Lockfile = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const missing = missingPackages(lock)
  const all = { ...lock.packages, ...missing }
  await addHashes(all)
  const packages = Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(
    'package-lock.json',
    `${JSON.stringify({ ...lock, packages: Object.fromEntries(packages) }, null, 2)}\n`,
  )
  console.log(`${Object.keys(missing).length} packages of other platforms added`)
}
