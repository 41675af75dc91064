// Builds the documentation site from docs/ into site/dist, and checks that it is complete: npm run site
// The packages of the site have a manifest of their own, because they are larger than those of everything else.
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe } from '../src/gateway/http/openapi/openapi.ts'
import { endpointsOf } from '../src/gateway/routes.ts'
import { TestGateway } from '../test/gateway/start.ts'
import { httpReference } from './site/http-reference.ts'
import { landing } from './site/landing.ts'
import { deadLinks, outsideHosts } from './site/links.ts'

const { version, description } = createRequire(import.meta.url)('../package.json')
const SITE = 'site'
const DIST = join(SITE, 'dist')

function run(command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { cwd: SITE, stdio: 'inherit' })
}

/** Adds a list of files to each copied folder, because a static server may show none. */
function listFolders(root: string): void {
  for (const folder of [...new Set(globSync(`${root}/**/*`).map((path) => join(path, '..')))]) {
    const names = readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile())
    if (names.length === 0 || names.includes('index.html')) continue
    const items = names.map((name) => `<li><a href="./${name}">${name}</a></li>`).join('\n')
    writeFileSync(
      join(folder, 'index.html'),
      `<!doctype html>\n<title>Files</title>\n<ul>\n${items}\n</ul>\n`,
    )
  }
}

rmSync(join(SITE, 'pages'), { recursive: true, force: true })
cpSync('docs', join(SITE, 'pages'), { recursive: true })
const index = join(SITE, 'pages', 'index.md')
writeFileSync(index, landing(readFileSync(index, 'utf8'), description))
const document = describe(endpointsOf(new TestGateway({}).deps), version)
writeFileSync(join(SITE, 'pages', 'reference', 'http.md'), httpReference(document))
run('npm', 'ci', '--no-audit', '--no-fund')
run('npm', 'run', 'build')
mkdirSync(join(DIST, 'files'), { recursive: true })
listFolders(join(DIST, 'files'))

const files = new Map(
  globSync('**/*', { cwd: DIST })
    .filter((path) => statSync(join(DIST, path)).isFile())
    .map((path) => [path, path.endsWith('.html') ? readFileSync(join(DIST, path), 'utf8') : '']),
)
const faults = [...deadLinks(files), ...outsideHosts(files)]
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
else
  console.log(
    `${DIST}: ${[...files.keys()].filter((path) => path.endsWith('.html')).length} pages, no dead link`,
  )
