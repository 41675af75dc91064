/** Something that a person looks at, and since when it is on screen as it is. */
export interface Painted {
  /** The last measurement, as text. */
  measured: string
  /** When it was certainly painted; `undefined` until then. */
  since: number | undefined
}

export const UNPAINTED: Readonly<Painted> = { measured: '', since: undefined }

/**
 * Notes a measurement of the current frame, which is taken before the frame is painted. Only a second frame with the
 * same measurement proves that the first was on screen.
 */
export function note(painted: Painted, measured: string): void {
  if (measured !== painted.measured) Object.assign(painted, { measured, since: undefined })
  else painted.since ??= performance.now()
}
