/** What is asked before something is done. */
export interface Question {
  /** Names the object: `Suspend prod/etl?` */
  readonly title: string;
  /** What will happen, a paragraph each. */
  readonly says: readonly string[];
  /** Quieter, under it. */
  readonly note?: string;
  /** The verb on the button. */
  readonly action: string;
  readonly isDanger?: boolean;
  /** Must be typed before the button works. */
  readonly typed?: string;
  /** Does it; what it throws is shown in the dialog, and the dialog stays. */
  readonly run: () => Promise<void>;
}

/** One question at a time, asked from anywhere. */
class Confirmation {
  question = $state.raw<Question | undefined>();

  ask(question: Question): void {
    this.question = question;
  }

  close(): void {
    this.question = undefined;
  }
}

export const confirmation = new Confirmation();
