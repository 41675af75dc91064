import { demo } from '../../../src/agents/demo/agent.ts'
import { agreeable } from '../../../src/cli/terminal/ask.ts'
import type { Event } from '../../../src/model/index.ts'
import { Stage } from '../../agents/stage.ts'

/** The events of the demonstration, with each request allowed. */
export async function demoEvents(): Promise<readonly Event[]> {
  const stage = new Stage(demo)
  stage.prompt('The product list skips its first page. Find out why and fix it.')
  for (;;) {
    while (stage.step());
    const request = stage.only('request.opened').at(-1)
    if (!request || stage.only('turn.completed').length > 0) return stage.events
    const answer = await agreeable(request)
    if (!answer) throw new Error('no answer')
    stage.answer({ ...answer, principal: 'local', client: 'terminal' })
  }
}
