import type { UsageTotals } from '../../client/index.ts'
import { connect } from '../contexts/connect.ts'
import { printableJson, printableLine } from '../render/printable.ts'
import { Printer } from '../render/printer.ts'
import type { UsageFlags } from './records.ts'

export async function usage(flags: UsageFlags): Promise<void> {
  const { client } = await connect(flags)
  const report = await client.usage()
  const { stdout } = process
  const rows: [string, UsageTotals][] = [
    ...Object.entries(report.agents),
    ...Object.entries(report.days).sort(([one], [other]) => other.localeCompare(one)),
    ['total', report.total],
  ]
  const text = flags.json
    ? `${printableJson(report)}\n`
    : rows.map(([name, spent]) => row(name, spent)).join('')
  await new Printer(stdout).print(text)
}

/** An agent that reports no cost is not shown as free. */
function row(name: string, { sessions, turns, usage: { total, costUsd, partial } }: UsageTotals): string {
  const count = (value: number, word: string) =>
    `${value.toLocaleString('en-US')} ${word}${value === 1 ? '' : 's'}`
  const parts = [
    count(sessions, 'session'),
    count(turns, 'turn'),
    ...(total === undefined ? [] : [count(total, 'token')]),
    ...(costUsd === undefined ? [] : [`$${costUsd.toFixed(4)}`]),
  ]
  return `${printableLine(name).padEnd(12)}  ${partial ? 'at least ' : ''}${parts.join(' · ')}\n`
}
