/**
 * `npm run release -- <patch|minor|major|x.y.z>`: checks the changelog, packs the package, and shows what npm would
 * publish. With `--write` it also sets the version in package.json and the lockfile and closes the changelog section.
 * The tag is published by CI with `npm publish --provenance`, which needs the identity of a CI provider.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

const VERSION = /^(\d+)\.(\d+)\.(\d+)$/
const UNRELEASED = '## [Unreleased]\n'

/** The version after `current`: a step, or an exact version that is higher. */
export function nextVersion(current: string, step: string): string {
  const [, major = 0, minor = 0, patch = 0] = (VERSION.exec(current) ?? []).map(Number)
  if (step === 'major') return `${major + 1}.0.0`
  if (step === 'minor') return `${major}.${minor + 1}.0`
  if (step === 'patch') return `${major}.${minor}.${patch + 1}`
  const wanted = (VERSION.exec(step) ?? []).slice(1).map(Number)
  if (wanted.length === 0) throw new Error(`${step} is not a version; use patch, minor, major or x.y.z`)
  const now = [major, minor, patch]
  const changed = wanted.findIndex((part, index) => part !== now[index])
  if (changed === -1 || (wanted[changed] ?? 0) < (now[changed] ?? 0)) {
    throw new Error(`${step} is not higher than ${current}`)
  }
  return step
}

/** Moves the changes under Unreleased to a section of the version. */
export function releaseChangelog(text: string, version: string, date: string): string {
  const start = text.indexOf(UNRELEASED)
  if (start === -1) throw new Error('CHANGELOG.md has no section "## [Unreleased]"')
  if (text.includes(`## [${version}]`)) throw new Error(`CHANGELOG.md already has a section for ${version}`)
  const rest = text.slice(start + UNRELEASED.length)
  const end = rest.indexOf('\n## [')
  const changes = end === -1 ? rest : rest.slice(0, end)
  if (!/^- /m.test(changes)) throw new Error('CHANGELOG.md lists no change under "## [Unreleased]"')
  return `${text.slice(0, start)}${UNRELEASED}\n## [${version}] - ${date}\n${rest}`
}

function run(command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { stdio: 'inherit' })
}

function release(step: string, write: boolean): void {
  const { version: current } = JSON.parse(readFileSync('package.json', 'utf8'))
  const version = nextVersion(current, step)
  const date = new Date().toISOString().slice(0, 10)
  const changelog = releaseChangelog(readFileSync('CHANGELOG.md', 'utf8'), version, date)
  if (write) {
    const changed = execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' })
    if (changed !== '') throw new Error(`commit or stash these changes first:\n${changed}`)
    run('npm', 'version', version, '--no-git-tag-version', '--ignore-scripts')
    writeFileSync('CHANGELOG.md', changelog)
  }
  run('npm', 'run', 'package')
  run('npm', 'publish', '--dry-run', '--provenance', '--ignore-scripts', '--access', 'public')
  console.log(
    write
      ? `Next: git commit -am "build: release ${version}" && git tag v${version}, and push both.`
      : `Version ${version} can be released. Pass --write to set it.`,
  )
}

if (import.meta.main) {
  const options = { write: { type: 'boolean', default: false } } as const
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const [step] = positionals
  if (step === undefined) throw new Error('usage: npm run release -- <patch|minor|major|x.y.z> [--write]')
  release(step, values.write)
}
