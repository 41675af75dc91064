import { eventsOf, must, type Stage } from './stage.ts'

/** The latest model request contains these words of earlier turns; the message names the notices of the session. */
export function mustRemember(stage: Stage, words: readonly string[]): void {
  const request = stage.model.requests.findLast(({ place }) => place?.scenario === 'text')
  const sent = JSON.stringify(request?.body ?? '')
  const missing = words.filter((word) => !sent.includes(word))
  const events = stage.logs.flat().map(({ event }) => event)
  const notices = eventsOf(events, 'notice.raised').filter(({ level }) => level !== 'info')
  const codes = [...new Set(notices.map(({ code }) => code))].join() || 'none'
  must(missing.length === 0, `the model was not sent ${missing.join(' and ')}; notices: ${codes}`)
}
