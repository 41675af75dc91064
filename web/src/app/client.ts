import { MainstemClient, MainstemError, type ServerInfo } from 'mainstem/client'
import { showHidden } from '../text/hidden.ts'
import { setServerTime } from './clock.ts'
import { Store } from './store.ts'

/** The only way to the server. The cookie of the browser authenticates every call. */
export const client = new MainstemClient({
  client: 'page',
  baseUrl: new URL('.', document.baseURI).href,
  // A page stays open for days: it reconnects for as long as it is open.
  retry: { retries: Number.POSITIVE_INFINITY, maxDelayMs: 5_000 },
})

export type SignInState =
  | { state: 'checking' }
  | { state: 'out'; reason: string | undefined }
  | { state: 'unreachable'; reason: string }
  /** The link belongs to another principal than the sign-in of the browser. */
  | { state: 'other'; reason: string; ticket: string }
  | { state: 'in'; server: ServerInfo }

export const signIn = new Store<SignInState>({ state: 'checking' })

/** Signs in with the ticket of the link, if there is one, and finds out whether the browser is signed in. */
export async function enter(ticket: string | undefined, replace = false): Promise<void> {
  try {
    if (ticket !== undefined) await client.signIn({ ticket, ...(replace && { replace }) })
  } catch (thrown) {
    if (ticket !== undefined && codeOf(thrown) === 'conflict') {
      signIn.set({ state: 'other', reason: messageOf(thrown), ticket })
      return
    }
    signIn.set({ state: 'out', reason: `${messageOf(thrown)}. Run “mainstem open” to get a new link.` })
    return
  }
  await checkSignIn()
}

export async function signInWith(token: string): Promise<void> {
  await client.signIn({ token })
  await checkSignIn()
}

export async function signOut(): Promise<void> {
  await client.signOut()
  signIn.set({ state: 'out', reason: 'You signed out' })
}

export async function checkSignIn(): Promise<void> {
  try {
    const server = await client.server()
    setServerTime(server.now)
    signIn.set({ state: 'in', server })
  } catch (thrown) {
    if (codeOf(thrown) !== 'unauthorized') signIn.set({ state: 'unreachable', reason: messageOf(thrown) })
    else signIn.set({ state: 'out', reason: reasonOf(messageOf(thrown)) })
  }
}

/** The refusal of a browser that never signed in needs no explanation. */
function reasonOf(message: string): string | undefined {
  return message === 'a valid token is required' ? undefined : message
}

/** Shows the sign-in when the server no longer accepts the browser. Returns whether that was the reason. */
export function leftOut(thrown: unknown): boolean {
  if (codeOf(thrown) !== 'unauthorized') return false
  signIn.set({ state: 'out', reason: reasonOf(messageOf(thrown)) })
  return true
}

export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof MainstemError ? thrown.code : undefined
}

export function messageOf(thrown: unknown): string {
  return showHidden(thrown instanceof Error ? thrown.message : String(thrown))
}
