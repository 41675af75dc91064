import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { blocksOf, pages } from '../../test/docs/pages.ts'
import type { Project } from './project.ts'

/** A TypeScript block of a page, as a file of the project. */
export interface Program {
  place: string
  file: string
  text: string
  /** The output that the page shows below it. */
  output: string | undefined
}

/** Its programs come from the documents whose protocols we implement. They need a server. */
const DOCUMENTS = 'docs/compatibility/documents.md'

export const isOfDocuments = ({ place }: Program): boolean => place.startsWith(DOCUMENTS)

/** Programs that print what their page shows, and start no agent but those that are built in. */
export const isRunnable = (program: Program): boolean =>
  program.output !== undefined &&
  !program.text.includes('127.0.0.1:7380') &&
  !program.text.includes(' node:test') &&
  [...program.text.matchAll(/agent: '([^']+)'/g)].every(([, agent = '']) => ['demo', 'echo'].includes(agent))

export function writePrograms({ folder }: Project): Program[] {
  return pages.flatMap((page) => {
    const blocks = blocksOf(page)
    return blocks.flatMap(({ place, language, text }, index) => {
      if (language !== 'ts') return []
      const file = join(folder, `${place.replaceAll(/\W+/g, '-')}.ts`)
      writeFileSync(file, text)
      const next = blocks[index + 1]
      return [{ place, file, text, output: next?.language === 'text' ? next.text : undefined }]
    })
  })
}
