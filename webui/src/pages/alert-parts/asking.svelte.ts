import { previewSilence } from '../../api/silences.ts';
import type { BulkRef, SilenceInput } from '@cronjob-monitor/shared/contract';
import type { SilenceChoice } from '../../format/ends.ts';

/** What a note is written on: alerts that were acknowledged just now. */
interface Noted {
  readonly alertIds: readonly string[];
  readonly name: string;
}

/** What is about to be silenced, once it is said for how long. */
export interface Silenced {
  /** The popover stands at it, and gives it the focus back. */
  readonly anchor: HTMLElement;
  readonly name: string;
  readonly matcher: SilenceInput['matcher'];
  /** To the form with every other choice. */
  readonly href?: string;
  readonly run: (choice: SilenceChoice, comment: string) => void;
}

/** What is asked above the page, beside what is done already; it goes with its page. */
class Asking {
  noted = $state.raw<Noted | undefined>();
  silenced = $state.raw<Silenced | undefined>();

  note(noted: Noted): void {
    this.noted = noted;
  }

  silence(silenced: Silenced): void {
    this.silenced = silenced;
  }

  close(): void {
    this.noted = undefined;
    this.silenced = undefined;
  }
}

export const asking = new Asking();

/** How many alerts it would hold now; undefined: it cannot be told. */
export async function heldBy(matcher: SilenceInput['matcher']): Promise<number | undefined> {
  try {
    return (await previewSilence({ matcher, duration: '1h' })).mutedNow;
  } catch {
    return undefined; // the silence itself says what is wrong
  }
}

/** Of whole CronJobs. */
export function matcherOf(refs: readonly BulkRef[]): SilenceInput['matcher'] {
  const [first] = refs;
  if (first && refs.length === 1) return { namespaces: [first.namespace], cronjobs: [first.name] };
  return { refs: refs.map(({ namespace, name }) => ({ namespace, name })) };
}
