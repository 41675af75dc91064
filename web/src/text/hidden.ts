import { escapeInvisible } from 'mainstem/client'

/** Characters without a glyph that writing needs: inside of emoji, and between letters of joining scripts. */
const NEEDED =
  /\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]*(?:\u200d\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]*)*|[\d#*]\ufe0f?\u20e3|[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Malayalam}\p{Script=Sinhala}][\u200c\u200d]/gu

/** The same, and spaces of typography, such as the one before a French colon. */
const NEEDED_OR_SPACE = new RegExp(`${NEEDED.source}|\\p{Zs}`, 'gu')

/**
 * Replaces characters that hide or reorder text by their escapes, and keeps emoji, letters and spaces as they are
 * written. An exact text, which people decide about, keeps ordinary spaces only.
 */
export function showHidden(text: string, exact = false): string {
  // Most texts have none.
  if (escapeInvisible(text) === text) return text
  let shown = ''
  let from = 0
  for (const { 0: needed, index } of text.matchAll(exact ? NEEDED : NEEDED_OR_SPACE)) {
    shown += escapeInvisible(text.slice(from, index)) + needed
    from = index + needed.length
  }
  return shown + escapeInvisible(text.slice(from))
}
