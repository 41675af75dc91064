import { expect, test } from 'vitest'
import { blocksOf, type SlackBlock, type SlackRequest } from '../../examples/slack-message.ts'

const permission = (input: unknown): SlackRequest => ({
  type: 'request.opened',
  requestId: 'r',
  kind: 'permission',
  blocking: true,
  tool: 'Bash',
  title: 'Run a command',
  input,
  inputDigest: 'digest',
  options: [],
})

const question = (labels: readonly string[]): NonNullable<SlackRequest['questions']>[number] => ({
  id: labels.join(),
  text: 'Which?',
  options: labels.map((label) => ({ label })),
})

const shown = (blocks: readonly SlackBlock[]) =>
  blocks.map((block) => (block.type === 'section' ? block.text.text : '')).join('')
const labels = (blocks: readonly SlackBlock[]) =>
  blocks.flatMap((block) => (block.type === 'actions' ? block.elements.map(({ text }) => text.text) : []))

test('a long input is shown to its end before it can be allowed in Slack', () => {
  const command = `${'echo x; '.repeat(5_000)}rm -rf \u202e/`
  const blocks = blocksOf('s', permission({ command }))
  expect(shown(blocks)).toContain(`${'echo x; '.repeat(5_000)}rm -rf \\u202e/`)
  expect(labels(blocks)).toEqual(['Allow once', 'Deny'])
  expect(blocks.length).toBeLessThanOrEqual(50)
  for (const block of blocks)
    if (block.type === 'section') expect(block.text.text.length).toBeLessThanOrEqual(3_000)
})

test('an input that does not fit into a message can only be denied there', () => {
  const blocks = blocksOf('s', permission({ command: 'x'.repeat(100_000) }))
  expect(labels(blocks)).toEqual(['Deny'])
  expect(blocks.length).toBeLessThanOrEqual(50)
})

test('questions that do not fit on buttons are left to another client', () => {
  const asking = (...questions: NonNullable<SlackRequest['questions']>): SlackRequest => ({
    ...permission(undefined),
    kind: 'question',
    questions,
  })
  expect(labels(blocksOf('s', asking(question(['a', 'b']))))).toEqual(['a', 'b', 'Deny'])
  expect(labels(blocksOf('s', asking(question(['a']), question(['b']))))).toEqual(['Deny'])
  expect(labels(blocksOf('s', asking(question(['a', 'x'.repeat(76)]))))).toEqual(['Deny'])
  expect(labels(blocksOf('s', asking({ ...question(['a']), multiple: true })))).toEqual(['Deny'])
})
