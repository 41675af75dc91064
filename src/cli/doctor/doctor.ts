import { type AgentReadiness, readiness } from '../../compose/readiness.ts'
import { type Config, loadConfig } from '../../daemon/config.ts'
import { checkPlace } from '../../daemon/place.ts'
import { adviceFor, toMainstemError } from '../../model/outcome/error-table.ts'
import { placeFlags } from '../daemon/data-directory.ts'
import { printableJson } from '../render/printable.ts'
import { Printer } from '../render/printer.ts'
import { Screen } from '../render/screen.ts'
import { screenOn } from '../render/show.ts'
import { interrupts } from '../terminal/interrupts.ts'
import { agentChecks } from './agents.ts'
import { type Check, type Health, ok, problem } from './check.ts'
import type { DoctorFlags } from './command.ts'
import { checkData, checkDisk, checkNode, checkSurvival } from './machine.ts'
import { checkDaemon, checkPort } from './server.ts'
import { checkStore, type StoreCheck } from './store.ts'

const PROBLEM_EXIT = 1
const INTERRUPTED_EXIT = 130

interface Diagnosis {
  checks: Check[]
  store?: StoreCheck['report']
  agents?: readonly AgentReadiness[]
}

export async function doctor({ json, ...flags }: DoctorFlags): Promise<void> {
  const { stdout } = process
  using interrupted = interrupts()
  const diagnosis = await diagnose(flags, interrupted)
  if (interrupted.aborted) {
    process.exitCode = INTERRUPTED_EXIT
    return
  }
  const problems = diagnosis.checks.filter(({ health }) => health === 'problem').length
  const text = json
    ? `${printableJson({ problems, ...diagnosis })}\n`
    : diagnosisText(new Screen(screenOn(stdout)), diagnosis.checks, problems)
  await new Printer(stdout).print(text)
  if (problems > 0) process.exitCode = PROBLEM_EXIT
}

async function diagnose(flags: DoctorFlags, signal: AbortSignal): Promise<Diagnosis> {
  const checks = [checkNode(process.versions.node)]
  const cwd = process.cwd()
  let config: Config
  try {
    config = await loadConfig({ flags: placeFlags(flags), environment: process.env, cwd })
  } catch (thrown) {
    // Without a configuration, nothing else can be located.
    const error = toMainstemError(thrown)
    return { checks: [...checks, problem('config', error.message, adviceFor(error))] }
  }
  checks.push(await checkConfig(config))
  const { data, host, port } = config
  checks.push(await checkData(data), await checkDisk(data))
  checks.push(await checkDaemon(flags), await checkPort(host, port, data), checkSurvival(config))
  const store = await checkStore(config)
  const agents = await readiness({ settings: config.agents, signal })
  checks.push(...store.checks, ...agentChecks(agents))
  return { checks, ...(store.report && { store: store.report }), agents }
}

/** Refuses a valid configuration with which a server would not start on this machine. */
async function checkConfig(config: Config): Promise<Check> {
  try {
    await checkPlace(config)
    return ok('config', 'valid')
  } catch (thrown) {
    const error = toMainstemError(thrown)
    return problem('config', error.message, adviceFor(error))
  }
}

const MARKS: Readonly<Record<Health, readonly [mark: string, colour: 'green' | 'yellow' | 'red']>> = {
  ok: ['✔', 'green'],
  warning: ['!', 'yellow'],
  problem: ['✖', 'red'],
}

function diagnosisText(screen: Screen, checks: readonly Check[], problems: number): string {
  const { colors } = screen
  const width = Math.max(...checks.map(({ name }) => name.length)) + 2
  const margin = ' '.repeat(width + 2)
  const lines = checks.map(({ name, health, text, fix }) => {
    const [mark, colour] = MARKS[health]
    const lead = `${colors[colour](mark)} ${colors.bold(name.padEnd(width))}`
    const hint = fix === undefined ? '' : screen.block(margin, `fix: ${fix}`, colors.cyan)
    return screen.block(margin, text, undefined, lead) + hint
  })
  const word = problems === 1 ? 'problem' : 'problems'
  const style = problems === 0 ? colors.green : colors.red
  const end = screen.line('', [style, `${problems === 0 ? 'no' : problems} ${word} found`])
  return `${lines.join('')}${screen.gap()}${end}`
}
