import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentSession } from '../../src/index.ts'
import type { Scenario } from '../scenario.ts'
import { type FinishedTurn, must, type Stage } from '../stage.ts'
import { modelOf } from '../usage.ts'
import { isModel } from './control.ts'
import { completes, HELLO } from './text.ts'

/** What only the log of another agent has. */
const RECAPPED = 'heron-of-the-recap'

const REVIEWED = 'unreviewed-word'

/** What the model was last asked in a scenario, as text. */
function lastAsked(stage: Stage, scenario: string): string {
  return JSON.stringify(stage.model.requests.findLast(({ place }) => place?.scenario === scenario)?.body)
}

function completed({ outcome, error }: FinishedTurn): void {
  must(
    outcome === 'completed',
    `the outcome is ${outcome}${error ? ` (${error.code}: ${error.message})` : ''}`,
  )
}

async function answered(stage: Stage, session: AgentSession): Promise<void> {
  completes(await stage.turn(session, 'thinking'), 'It is 42.')
}

/** A repository with a file that was changed after its last commit. */
function changeRepository(cwd: string): void {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd })
  writeFileSync(join(cwd, 'code.txt'), 'old\n')
  git('init', '-q')
  git('add', 'code.txt')
  git('commit', '-q', '-m', 'first')
  writeFileSync(join(cwd, 'code.txt'), `${REVIEWED}\n`)
}

/** Commands carry no settings: those that were changed before have to apply to them too. */
async function chooseModel({ program: { otherModel }, launch }: Stage, session: AgentSession): Promise<void> {
  if (launch === 'live' && otherModel !== undefined) await session.setModel(otherModel)
}

function mustAsk({ program: { otherModel }, launch }: Stage, asked: Stage['model']['requests']): void {
  if (launch !== 'live' || otherModel === undefined) return
  const wrong = asked.map(modelOf).find((model) => !isModel(model, otherModel))
  must(wrong === undefined, `the model ${wrong} was asked instead of ${otherModel}`)
}

/** Commands of the programs' own terminals. */
export const VERBS: readonly Scenario[] = [
  {
    id: 'fork',
    title: 'Fork a conversation',
    effect: 'the model received the earlier turn in the copy, and nothing of the copy in the original',
    async play(stage) {
      const session = await stage.session()
      await answered(stage, session)
      const copy = await stage.fork(session)
      completed(await stage.turn(copy, 'unicode'))
      must(lastAsked(stage, 'unicode').includes('It is 42.'), 'the copy lacks the earlier turn')
      must(copy.nativeSessionId !== session.nativeSessionId, 'the copy is the original')
      completes(await stage.turn(session, 'text'), HELLO)
      const asked = lastAsked(stage, 'text')
      must(asked.includes('It is 42.'), 'the original lost its earlier turn')
      must(!asked.includes('SCENARIO:unicode'), 'the original has the turn of the copy')
    },
  },
  {
    id: 'compact',
    title: 'Compact a conversation',
    effect: 'the model was asked for a summary, and later did not receive the earlier answer',
    async play(stage) {
      const session = await stage.session()
      await answered(stage, session)
      completed(await stage.turn(session, 'lengthy'))
      const before = stage.model.requests.length
      completed(await stage.played(session.compact()))
      must(stage.model.requests.length > before, 'the model was not asked for a summary')
      completes(await stage.turn(session, 'text'), HELLO)
      must(!lastAsked(stage, 'text').includes('It is 42.'), 'the model still receives the earlier answer')
    },
  },
  {
    id: 'review',
    title: 'Review uncommitted changes',
    effect: 'the model that was chosen before was asked to review, and no file changed',
    async play(stage) {
      changeRepository(stage.cwd)
      const session = await stage.session()
      completes(await stage.turn(session, 'text'), HELLO)
      await chooseModel(stage, session)
      const before = stage.model.requests.length
      completed(await stage.played(session.review()))
      const reviews = stage.model.requests
        .slice(before)
        .filter(({ body }) => /review/i.test(JSON.stringify(body)))
      must(reviews.length > 0, 'the model was not asked to review')
      // Titles are asked of another model.
      mustAsk(stage, reviews.slice(0, 1))
      must(readFileSync(join(stage.cwd, 'code.txt'), 'utf8') === `${REVIEWED}\n`, 'the file was changed')
    },
  },
  {
    id: 'goal',
    title: 'Work on a goal',
    effect: 'the command of the goal ran, asked of the model that was chosen before',
    async play(stage) {
      const session = await stage.session()
      completes(await stage.turn(session, 'goal'), 'It is prepared.')
      await chooseModel(stage, session)
      const before = stage.model.requests.length
      completed(await stage.played(session.goal('the file exists')))
      await session.interrupt()
      must(existsSync(join(stage.cwd, 'ran.txt')), 'the command did not run')
      const asked = stage.model.requests.slice(before).filter(({ place }) => place !== undefined)
      must(asked.length > 0, 'no model was asked')
      mustAsk(stage, asked)
    },
  },
  {
    id: 'hand-over',
    title: "Continue another agent's session",
    effect: 'the model received a word that only the recap has, once, and still knows it in the next turn',
    async play(stage) {
      const { program, launch } = stage
      const session = await stage.session({ agent: 'echo', launch: 'live' })
      completed(await stage.played(session.prompt(`The word is ${RECAPPED}.`)))
      await session.continueWith(program.agent, { launch })
      completes(await stage.turn(session, 'text'), HELLO)
      must(lastAsked(stage, 'text').includes(RECAPPED), 'the model did not receive the recap')
      completed(await stage.turn(session, 'unicode'))
      const asked = lastAsked(stage, 'unicode')
      must(asked.includes(RECAPPED), 'the model lost the recap with the next turn')
      must(asked.split('[Recap by Mainstem').length === 2, 'the model received the recap again')
      await session.continueWith('echo')
      completed(await stage.played(session.prompt('Back.')))
    },
  },
  {
    id: 'rewind',
    title: 'Restore files',
    effect: 'the file of a later turn is gone',
    async play(stage) {
      const session = await stage.session()
      completes(await stage.turn(session, 'text'), HELLO)
      completes(await stage.turn(session, 'write'), 'The file is written.')
      must(existsSync(join(stage.cwd, 'hello.txt')), 'it did not write the file')
      completed(await stage.played(session.rewind(2)))
      must(!existsSync(join(stage.cwd, 'hello.txt')), 'the file is still there')
    },
  },
]
