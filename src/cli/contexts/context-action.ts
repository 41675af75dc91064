import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { Printer } from '../render/printer.ts'
import { Screen } from '../render/screen.ts'
import { screenOn } from '../render/show.ts'
import { renderTable } from '../render/table.ts'
import { contextNamed } from './connect.ts'
import { LOCAL_CONTEXT, readContexts, withoutContext, writeContexts } from './contexts.ts'

/** `mainstem context`: lists the servers of this user, selects one, or forgets one. */
export async function context(action: string, name: string | undefined): Promise<void> {
  const known = await readContexts(process.env)
  const { contexts, current = LOCAL_CONTEXT } = known
  if (action === 'list') {
    const { stdout } = process
    const rows = contexts.map((one) => [one.name, one.server, one.principal])
    const table = renderTable(new Screen(screenOn(stdout)), {
      headings: ['context', 'server', 'principal'],
      rows: [[LOCAL_CONTEXT, 'the server of this machine', ''], ...rows].map(([first = '', ...rest]) => [
        first === current ? `${first} *` : first,
        ...rest,
      ]),
    })
    return new Printer(stdout).print(table)
  }
  if (name === undefined) throw new MainstemError('invalid_request', `context ${action}: name a context`)
  if (action === 'use') {
    const isLocal = name === LOCAL_CONTEXT
    const server = isLocal ? 'the server of this machine' : contextNamed(name, contexts).server
    await writeContexts(process.env, { contexts, ...(!isLocal && { current: name }) })
    console.log(`commands now use ${server}`)
    return
  }
  const { token, isLogin } = contextNamed(name, contexts)
  await writeContexts(process.env, withoutContext(known, name))
  console.log(`removed ${name}`)
  if (isLogin && token !== undefined)
    console.error(
      'Its token is still valid; `mainstem logout` removes it as well. The page lists your logins.',
    )
}
