import type { PruneInput, PruneResult } from '@cronjob-monitor/shared/contract';
import { prune } from '../../api/admin.ts';
import { plural } from '../../format/figures.ts';

/** Deleting what is old: live only after a dry run of the very same inputs. */
export class PruneState {
  readonly #prune: typeof prune;
  days = $state('30');
  logsOnly = $state(false);
  isBusy = $state(false);
  failure = $state('');
  #preview = $state.raw<{ readonly input: PruneInput; readonly result: PruneResult } | undefined>();

  constructor(ask: typeof prune = prune) {
    this.#prune = ask;
  }

  /** Undefined while what is typed is no number of days. */
  readonly input: PruneInput | undefined = $derived.by(() => {
    const olderThanDays = Number(this.days);
    const isValid = Number.isInteger(olderThanDays) && olderThanDays >= 1 && olderThanDays <= 3_650;
    return isValid ? { olderThanDays, pruneLogsOnly: this.logsOnly } : undefined;
  });

  /** The dry run of these inputs; undefined when they changed since. */
  readonly preview: PruneResult | undefined = $derived.by(() => {
    const made = this.#preview;
    const isSame =
      made?.input.olderThanDays === this.input?.olderThanDays &&
      made?.input.pruneLogsOnly === this.input?.pruneLogsOnly;
    return made && isSame ? made.result : undefined;
  });

  async dryRun(): Promise<void> {
    const { input } = this;
    if (!input || this.isBusy) return;
    this.isBusy = true;
    this.failure = '';
    try {
      this.#preview = { input, result: await this.#prune({ ...input, dryRun: true }) };
    } catch (error) {
      this.failure = error instanceof Error ? error.message : 'No answer';
    } finally {
      this.isBusy = false;
    }
  }

  /** Throws what the server says. Afterwards another dry run is needed. */
  async run(): Promise<PruneResult> {
    const { input } = this;
    if (!input || !this.preview) throw new Error('Make a dry run of these inputs first');
    const result = await this.#prune({ ...input, dryRun: false });
    this.#preview = undefined;
    return result;
  }
}

/** What a call deletes, counted. */
export function pruneText({
  deletedCount,
  logsDeleted,
  eventsDeleted,
  slotsDeleted,
  pruneLogsOnly,
}: PruneResult): string {
  if (pruneLogsOnly) return plural(logsDeleted, 'log');
  return `${plural(deletedCount, 'run')}, ${plural(logsDeleted, 'log')}, ${plural(eventsDeleted, 'set')} of events, ${plural(slotsDeleted, 'expected run')}`;
}
