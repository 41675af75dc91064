let segmenter: Intl.Segmenter | undefined

/**
 * The characters of a text as people see them: an emoji may consist of several code points. The segmenter is made when
 * it is needed, because it loads the tables of all scripts, which takes as long as a third of a start.
 */
export function charactersOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter()
  return segmenter.segment(text)
}
