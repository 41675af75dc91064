import { useSyncExternalStore } from 'react'
import { hrefOf, type Route, routeOf } from './route.ts'

export function go(route: Route): void {
  location.hash = hrefOf(route)
}

let current = { hash: '', route: routeOf('') }

/** The same object for the same address, so that components render once for each change. */
function currentRoute(): Route {
  if (current.hash !== location.hash) current = { hash: location.hash, route: routeOf(location.hash) }
  return current.route
}

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}

export function useRoute(): Route {
  return useSyncExternalStore(subscribe, currentRoute)
}

/** The digest of a command line's token, and what the command line calls itself. */
export interface LoginLink {
  digest: string
  name: string
}

const LOGIN = /^#login=([0-9a-f]{64})&name=([\w.%@-]{1,192})$/

/** The link that `mainstem login` shows. It stays in the address, because the person may have to sign in first. */
export function useLoginLink(): LoginLink | undefined {
  const [, digest, name] = LOGIN.exec(useSyncExternalStore(subscribe, () => location.hash)) ?? []
  if (digest === undefined || name === undefined) return undefined
  try {
    return { digest, name: decodeURIComponent(name) }
  } catch {
    return undefined
  }
}

/** The ticket of a sign-in link. It is removed from the address at once, so that it stays in no history. */
export function takeTicket(): string | undefined {
  const ticket = /^#ticket=([\w.-]+)$/.exec(location.hash)?.[1]
  if (ticket !== undefined) history.replaceState(null, '', '#/')
  return ticket
}
