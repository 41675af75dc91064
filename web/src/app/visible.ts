import { Store } from './store.ts'

/** How long a hidden page keeps its streams. A browser has six connections for all pages of one server. */
const HIDDEN_MS = 30_000

/** Whether the page should follow the server. A page in the background stops after a while and resumes by its cursor. */
export const attentive = new Store(true)

let timer: ReturnType<typeof setTimeout> | undefined

document.addEventListener('visibilitychange', () => {
  clearTimeout(timer)
  if (document.visibilityState === 'visible') attentive.set(true)
  else timer = setTimeout(() => attentive.set(false), HIDDEN_MS)
})
