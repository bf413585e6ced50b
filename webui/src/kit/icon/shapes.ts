/** Tones of ui tokens. A tone never stands alone: a shape and a word say the same. */
export type Tone = 'ok' | 'warn' | 'crit' | 'run' | 'off' | 'held';

/** Shapes that tell a state, drawn by Icon. */
export type Shape =
  | 'cross'
  | 'exclamation'
  /** The triangle of a warning, empty: bad, and no alert says so. */
  | 'hollow'
  | 'check'
  | 'bars'
  | 'triangle'
  | 'question'
  | 'hourglass'
  | 'bar'
  | 'dash'
  | 'merge'
  | 'list'
  | 'dot';

/** A state as it is shown: its word, and the shape and tone that say the same. */
export interface Mark {
  readonly word: string;
  readonly shape: Shape;
  readonly tone: Tone;
}
