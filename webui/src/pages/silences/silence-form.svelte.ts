import {
  alertTypes,
  severities,
  type AlertType,
  type Severity,
  type Silence,
  type SilenceInput,
} from '@cronjob-monitor/shared/contract';
import { previewSilence } from '../../api/silences.ts';
import { secondsOfGo } from '../../format/duration.ts';
import { endAt, type EndChoice } from '../../format/ends.ts';
import type { Viewer } from '../../format/viewer.ts';
import { listIn, wordsIn } from '../../state/filters.ts';
import { preferences } from '../../state/preferences.svelte.ts';

/** `resolved`: when nothing that it holds is open any more. `kept`: as it was, of one that is changed. */
export type SilenceEnd = EndChoice | 'resolved' | 'other' | 'kept';

const longestSeconds = 30 * 86_400;

/** What a person writes to silence something, until the server takes it. */
export class SilenceForm {
  namespaces = $state.raw<readonly string[]>([]);
  cronjobs = $state.raw<readonly string[]>([]);
  types = $state.raw<readonly AlertType[]>([]);
  severities = $state.raw<readonly Severity[]>([]);
  /** `namespace/name`, empty: any. */
  monitor = $state('');
  alertId = $state.raw<string | undefined>();
  isAll = $state(false);
  /** Empty: from now on; else in so long, `2h`. */
  startsIn = $state('');
  end = $state<SilenceEnd>('4h');
  /** Of `other`: for so long. */
  lasts = $state('1d');
  comment = $state('');
  by = $state('');
  isBusy = $state(false);
  failure = $state('');
  #preview = $state.raw<{ readonly key: string; readonly mutedNow?: number; readonly failure?: string } | undefined>();
  readonly #kept: Silence | undefined;
  readonly #ask: typeof previewSilence;

  constructor(ask: typeof previewSilence = previewSilence, kept?: Silence) {
    this.#ask = ask;
    this.#kept = kept;
    this.by = preferences.ownName;
  }

  /** As a link asks for it: `?form=new&ns=prod&cronjob=backup&type=jobFailed`. */
  static ofQuery(query: URLSearchParams, ask?: typeof previewSilence): SilenceForm {
    const form = new SilenceForm(ask);
    form.namespaces = listIn(query, 'ns');
    form.cronjobs = listIn(query, 'cronjob');
    form.types = wordsIn(query, 'type', alertTypes);
    form.severities = wordsIn(query, 'severity', severities);
    form.monitor = query.get('monitor') ?? '';
    form.alertId = query.get('alert') ?? undefined;
    return form;
  }

  /** To change one that stands. */
  static ofSilence(silence: Silence, ask?: typeof previewSilence): SilenceForm {
    const form = new SilenceForm(ask, silence);
    const { matcher } = silence;
    form.namespaces = matcher.namespaces;
    form.cronjobs = matcher.cronjobs;
    form.types = matcher.types;
    form.severities = matcher.severities;
    form.monitor = matcher.monitor ? `${matcher.monitor.namespace}/${matcher.monitor.name}` : '';
    form.alertId = matcher.alertId ?? undefined;
    form.isAll = matcher.all;
    form.comment = silence.comment;
    form.by = silence.createdBy;
    form.end = 'kept';
    return form;
  }

  get isChange(): boolean {
    return this.#kept !== undefined;
  }

  readonly matcher: SilenceInput['matcher'] = $derived.by(() => {
    if (this.isAll) return { all: true };
    const [namespace, name] = this.monitor.split('/');
    return {
      ...(this.namespaces.length > 0 ? { namespaces: this.namespaces } : {}),
      ...(this.cronjobs.length > 0 ? { cronjobs: this.cronjobs } : {}),
      ...(this.types.length > 0 ? { types: this.types } : {}),
      ...(this.severities.length > 0 ? { severities: this.severities } : {}),
      ...(namespace && name ? { monitor: { namespace, name } } : {}),
      ...(this.alertId === undefined ? {} : { alertId: this.alertId }),
    };
  });

  /** Changes with what would be held, and with nothing else. */
  readonly matcherKey: string = $derived(JSON.stringify(this.matcher));
  readonly isEmpty: boolean = $derived(this.matcherKey === '{}');

  /** Why it cannot be kept yet; undefined: it can. */
  readonly lack: string | undefined = $derived.by(() => {
    if (this.isEmpty) return 'Say what to hold, or choose the whole fleet';
    if (this.monitor !== '' && !/^[^/\s]+\/[^/\s]+$/.test(this.monitor)) return 'Name the monitor as namespace/name';
    if (this.startsIn.trim() !== '' && (secondsOfGo(this.startsIn.trim()) ?? 0) <= 0)
      return 'Write when it begins as 30m, 2h or 1d';
    if (this.end === 'other') {
      const seconds = secondsOfGo(this.lasts.trim()) ?? 0;
      if (seconds <= 0) return 'Write how long it lasts as 30m, 2h or 1d';
      if (seconds > longestSeconds) return 'A silence lasts 30 days at most';
    }
    return undefined;
  });

  /** It ends also when nothing that it holds is open. */
  readonly endsWithCause: boolean = $derived.by(
    () => this.end === 'resolved' || (this.end === 'kept' && this.#kept?.untilResolved === true),
  );

  /** When it would end, epoch milliseconds; undefined for what cannot be read. */
  endsAt(viewer: Viewer): number | undefined {
    switch (this.end) {
      case 'kept':
        return this.#kept === undefined ? undefined : Date.parse(this.#kept.endsAt);
      case 'resolved':
        return this.#startMs(viewer) + longestSeconds * 1000;
      case 'other': {
        const seconds = secondsOfGo(this.lasts.trim());
        return seconds === undefined ? undefined : this.#startMs(viewer) + seconds * 1000;
      }
      default:
        return endAt(this.end, viewer);
    }
  }

  /** What is sent. */
  input(viewer: Viewer): SilenceInput {
    const endsAt = this.endsAt(viewer);
    const startsAt = this.startsIn.trim() === '' ? this.#kept?.startsAt : iso(this.#startMs(viewer));
    return {
      matcher: this.matcher,
      ...(startsAt === undefined ? {} : { startsAt }),
      // The server counts from its own now: a month from then, and not from ours.
      ...(this.end === 'resolved' ? { duration: '720h' } : { endsAt: iso(endsAt ?? viewer.nowMs) }),
      untilResolved: this.endsWithCause,
      ...(this.comment.trim() === '' ? {} : { comment: this.comment.trim() }),
      ...(this.by.trim() === '' ? {} : { by: this.by.trim() }),
    };
  }

  /** How many alerts the matcher holds now: the server's answer to this very matcher. Undefined: not asked or not answered yet. */
  readonly heldNow: number | undefined = $derived(
    this.#preview?.key === this.matcherKey ? this.#preview.mutedNow : undefined,
  );
  readonly previewFailure: string | undefined = $derived(
    this.#preview?.key === this.matcherKey ? this.#preview.failure : undefined,
  );

  async preview(): Promise<void> {
    const key = this.matcherKey;
    if (this.isEmpty) return;
    try {
      const { mutedNow } = await this.#ask({ matcher: this.matcher, duration: '1h' });
      this.#preview = { key, mutedNow };
    } catch (error) {
      this.#preview = { key, failure: error instanceof Error ? error.message : 'No answer' };
    }
  }

  #startMs({ nowMs }: Viewer): number {
    return nowMs + (secondsOfGo(this.startsIn.trim() || '0') ?? 0) * 1000;
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
