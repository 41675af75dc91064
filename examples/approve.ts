// Decides every request in code, edits of sources alone are allowed: node examples/approve.ts [agent] ["prompt"]
// A project that has the package installed imports from 'mainstem'.
import { type Answerer, mainstem } from '../src/index.ts'

const [agent = 'demo', prompt = 'Fix the failing test.'] = process.argv.slice(2)

const decide: Answerer = ({ kind, toolKind, title, locations = [], questions = [] }) => {
  if (kind === 'question') {
    const answers = questions.map(({ id, options }) => [id, [options[0]?.label ?? 'no idea']])
    return { decision: 'answered', answers: Object.fromEntries(answers) }
  }
  const inSources = locations.length > 0 && locations.every(({ path }) => /^src\/\w+\.ts$/.test(path))
  const allowed = toolKind === 'edit' && inSources
  console.log(`${allowed ? 'allow' : 'deny '} ${title ?? kind}`)
  return allowed
    ? { decision: 'allow', scope: 'once' }
    : { decision: 'deny', message: 'Only files directly in src may be changed.' }
}

await using stem = mainstem()
await using session = await stem.session({ agent, cwd: process.cwd(), onRequest: decide })
const { outcome, text } = await session.prompt(prompt).result()
console.log(outcome)
console.log(text)
