/** One line of a menu. */
export interface MenuItem {
  readonly word: string;
  /** Of what opens beside it: where it stands. */
  readonly run?: (anchor: HTMLElement) => void;
  /** Does the same from the row. */
  readonly key?: string;
  readonly href?: string;
  /** Why it cannot be used: it stays in the list and says so. */
  readonly missing?: string | undefined;
  /** Says more about it, in smaller letters. */
  readonly note?: string;
  readonly isDanger?: boolean;
  /** A line above. */
  readonly isApart?: boolean;
  /** Of a menu of choices: the one that holds. */
  readonly isChosen?: boolean;
}
