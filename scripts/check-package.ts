/**
 * `npm run check:package`: packs the built package, puts it into an empty project and uses it there as its pages say:
 * types, command, entries, programs, and a client generated from its OpenAPI document. With `--all` npm installs
 * the package, and the checks run with every supported Node and TypeScript.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { checkGeneratedClient } from './package/generated-client.ts'
import { writePrograms } from './package/programs.ts'
import { createProject, ROOT } from './package/project.ts'
import { checkRuns, emitPrograms } from './package/runs.ts'
import { writeCodex } from './package/server.ts'
import { checkTypes } from './package/types.ts'
import { installNode, installTool } from './tools.ts'

/** The first is the oldest that `engines` allows; the Node of this repository comes after them. */
const NODES = ['22.13.0', '24.21.0']
const COMPILERS = ['5.7.2', '5.9.3', '6.0.3']

const { values } = parseArgs({ options: { all: { type: 'boolean', default: false } } })
const nodes = values.all ? await Promise.all(NODES.map(installNode)) : []
const compilers = values.all
  ? await Promise.all(
      COMPILERS.map(async (version) =>
        join(await installTool('typescript', version), 'node_modules/typescript'),
      ),
    )
  : []

using project = await createProject(values.all ? 'install' : 'link')
const { exports } = JSON.parse(readFileSync(join(project.home, 'package.json'), 'utf8'))
const entries = Object.keys(exports)
  .filter((path) => !path.endsWith('.json'))
  .map((path) => path.replace('.', 'mainstem'))
const programs = writePrograms(project)
writeCodex(project)

for (const compiler of [...compilers, join(ROOT, 'node_modules/typescript')]) {
  await checkTypes(project, { entries, programs }, compiler)
  const { version } = JSON.parse(readFileSync(join(compiler, 'package.json'), 'utf8'))
  console.log(`TypeScript ${version}: ${programs.length} programs and ${entries.length} entries compile`)
}
await emitPrograms(project)
for (const node of [...nodes, process.execPath]) {
  const count = await checkRuns(node, project, { entries, programs })
  console.log(`${node}: command, ${entries.length} entries and ${count} programs run`)
}
await checkGeneratedClient(project)
console.log('a client generated from the OpenAPI document compiles and runs')
