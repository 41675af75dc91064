import { MainstemError } from '../../model/outcome/mainstem-error.ts'
import { clientOf, contextNamed, selectedContext } from './connect.ts'
import { type Context, readContexts, withoutContext, writeContexts } from './contexts.ts'

/** `mainstem logout`: removes the token from the server, and the context. */
export async function logout(name: string | undefined): Promise<void> {
  const known = await readContexts(process.env)
  const context =
    name === undefined ? await selectedContext({}, process.env) : contextNamed(name, known.contexts)
  if (!context) {
    throw new MainstemError(
      'invalid_request',
      'commands use the server of this machine, which needs no login',
      {
        advice: 'Name a context: `mainstem context` lists them.',
      },
    )
  }
  await removeLoginOf(context)
  await writeContexts(process.env, withoutContext(known, context.name))
  console.log(`logged out of ${context.server}`)
  if (!context.isLogin && context.token !== undefined)
    console.error('The token is still valid: `mainstem token remove` on the server removes it.')
}

/** Removes the token of this machine from the server of a context, unless it is one that somebody passed in. */
export async function removeLoginOf(context: Context): Promise<void> {
  if (!context.isLogin) return
  try {
    await clientOf(context).removeLogin('current')
  } catch (thrown) {
    // It was removed before.
    if (!(thrown instanceof MainstemError && thrown.code === 'unauthorized')) throw thrown
  }
}
