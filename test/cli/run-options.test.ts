import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { Home } from './mainstem-process.ts'

/** A program that writes its arguments to a file and ends. */
const NOTES = `
import { writeFileSync } from 'node:fs'
if (!process.argv.includes('--version')) writeFileSync('arguments.json', JSON.stringify(process.argv.slice(2)))
`

const home = new Home()
afterAll(() => home[Symbol.asyncDispose]())
const place = (name: string) => join(home.path, name)

mkdirSync(home.data, { mode: 0o700 })
writeFileSync(place('claude.mjs'), NOTES)
const command = [process.execPath, place('claude.mjs')]
writeFileSync(join(home.data, 'config.json'), JSON.stringify({ agents: { claude: { command } } }))
mkdirSync(place('skills'))
const subagents = { checker: { description: 'Checks it.', prompt: 'Check.' } }
writeFileSync(place('agents.json'), JSON.stringify(subagents))
writeFileSync(place('broken.json'), '{"checker": ')
writeFileSync(place('list.json'), '[]')
writeFileSync(place('wrong.json'), '{"checker": {"description": "Checks it."}}')

describe('options of a session on the command line', { timeout: 30_000 }, () => {
  test('reach the program of the agent', async () => {
    const flags = ['--fallback-model', 'haiku', '--subagents', 'agents.json', '--skill', 'skills']
    await home.mainstem(['run', 'claude', 'hi', ...flags])
    const given: string[] = JSON.parse(readFileSync(place('arguments.json'), 'utf8'))
    expect(given.join(' ')).toMatch(/--fallback-model[= ]haiku/)
    expect(given.join(' ')).toContain(JSON.stringify(subagents))
    expect(given.join(' ')).toContain(place('skills'))
  })

  test.each([
    ['broken.json', '--subagents: broken.json is not valid JSON'],
    ['list.json', '--subagents: list.json is not a JSON object'],
    ['wrong.json', 'options.subagents.checker.prompt'],
  ])('sub-agents in %s are refused', async (file, reason) => {
    const { code, err } = await home.mainstem(['run', 'claude', 'hi', '--subagents', file])
    expect(err).toContain(reason)
    expect(code).toBe(2)
  })

  test('belong to a new session', async () => {
    await home.mainstem(['run', 'echo', 'hi'])
    const { code, err } = await home.mainstem(['run', 'echo', 'hi', '--continue', '--skill', 'skills'])
    expect(err).toContain('--skill can only be chosen for a new session')
    expect(code).toBe(2)
  })
})
