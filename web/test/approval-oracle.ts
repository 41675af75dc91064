/** An approval that the page sent, judged by what was on screen when the person acted. */
export interface JudgedApproval {
  /** Absent for a change of what the session may do without asking. */
  requestId?: string
  /** Why nobody could have meant it; empty if it was meant. */
  faults: string[]
}

/**
 * Runs in the page, and judges every approval by rules of its own: it looks for the first and the last word of each
 * input at the points of the screen where they are drawn, and notes the last key or click. It shares no code with the page.
 * It looks once a frame, and dates keys and clicks by the time of the event, as the person does.
 */
export const ORACLE = `
globalThis.approvals = []
{
  const seen = new Map()
  const places = new Map()
  let act
  const cards = () => [...document.querySelectorAll('[data-request]')]
  const applies = () => [...document.querySelectorAll('button')].filter((one) => one.textContent === 'Apply')
  /** Whether this word of a card is drawn on screen, and nothing lies over it. */
  const drawn = (card, word) => {
    const walker = document.createTreeWalker(card, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const at = node.data.indexOf(word)
      if (at === -1) continue
      const range = document.createRange()
      range.setStart(node, at)
      range.setEnd(node, at + word.length)
      const { left, top, width, height } = range.getBoundingClientRect()
      const found = document.elementFromPoint(left + width / 2, top + height / 2)
      return found !== null && found.contains(node)
    }
    return false
  }
  const placeOf = (element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect()
    return [left, top, right, bottom].map(Math.round).join()
  }
  const look = () => {
    for (const card of cards()) {
      const id = card.dataset.request
      for (const word of ['START-' + id, 'END-' + id]) if (drawn(card, word)) seen.set(word, true)
    }
    for (const one of [...cards(), ...applies()]) {
      const place = placeOf(one)
      if (places.get(one)?.place !== place) places.set(one, { place, since: performance.now() })
    }
  }
  const snapshot = (event) => {
    // What is elsewhere than in the last frame was not where the person acted.
    const stillFor = (element) => {
      const { place, since } = places.get(element) ?? {}
      return place === placeOf(element) ? event.timeStamp - since : 0
    }
    act = {
      stillFor,
      type: event.type,
      key: event.key,
      repeat: event.repeat === true,
      pointer: event.detail > 0,
      target: event.target,
      field: event.target instanceof HTMLElement && event.target.matches('input, textarea, select'),
      cards: new Map(cards().map((card) => {
        const { top, bottom } = card.getBoundingClientRect()
        return [card.dataset.request, {
          card,
          still: stillFor(card),
          selected: card.ariaCurrent === 'true',
          whole: top >= -1 && bottom <= innerHeight + 1,
          start: seen.has('START-' + card.dataset.request),
          end: seen.has('END-' + card.dataset.request),
        }]
      })),
    }
  }
  for (const type of ['keydown', 'click']) addEventListener(type, snapshot, { capture: true })
  const faultsOf = (requestId) => {
    const state = act?.cards.get(requestId)
    if (!act || !state) return ['no card']
    const faults = []
    if (!state.start || !state.end) faults.push('not shown whole')
    if (state.still < 400) faults.push('moved ' + Math.round(state.still) + ' ms before')
    if (act.type === 'keydown') {
      if (act.repeat) faults.push('held key')
      if (act.field) faults.push('typed into a field')
      if (!/^[as]$/.test(act.key)) faults.push('key ' + act.key)
      if (!state.selected) faults.push('not selected')
      if (!state.whole) faults.push('not on screen')
    } else {
      const button = act.target.closest('button')
      const isBatch = /^Allow (?:all|\\d+) once$/.test(button?.textContent ?? '')
      if (!isBatch && !state.card.contains(button)) faults.push('click elsewhere')
      if (!/^(?:Allow|Always)/.test(button?.textContent ?? '')) faults.push('another button')
      if (!act.pointer && !isBatch && !state.whole) faults.push('focused button off screen')
    }
    return faults
  }
  const faultsOfChange = () => {
    const button = act?.target.closest('button')
    if (button?.textContent !== 'Apply') return ['permissions changed by ' + act?.type + ' ' + act?.key]
    const still = act.stillFor(button)
    const faults = []
    if (act.repeat) faults.push('held key')
    if (still < 400) faults.push('permissions applied ' + Math.round(still) + ' ms after')
    return faults
  }
  const send = globalThis.fetch
  globalThis.fetch = (input, init) => {
    const url = String(input?.url ?? input)
    const [, requestId] = /requests\\/([^/?]+)/.exec(url) ?? []
    const body = typeof init?.body === 'string' ? JSON.parse(init.body) : undefined
    if (requestId && body?.decision === 'allow') approvals.push({ requestId, faults: faultsOf(requestId) })
    if (/\\/mode$/.test(url) && body?.policy?.approval !== 'ask') approvals.push({ faults: faultsOfChange() })
    return send(input, init)
  }
  const frame = () => {
    look()
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
}
`
