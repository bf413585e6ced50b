import type { AlertSubject, AlertType, Severity } from '../../contract/index.ts';
import { remindAfterMs } from '../alert/active.ts';
import type { AlertFinding, AlertRecord, AlertRules, AlertWorld, FindingVerdict } from '../alert/alert.ts';
import type { HeldForParents } from '../alert/dependency.ts';
import type { MessageHold } from '../alert/holds.ts';
import type { Admitting } from '../alert/routes.ts';
import { next } from '../alert/life.ts';
import { alertSeverity } from '../alert/severity.ts';
import type { HoldingVerdict } from '../delivery/to-holding.ts';
import type { Instant } from '../instant.ts';
import type { PreviewedCronJob, PreviewedParent } from './history.ts';

/** One alert as it would have been. */
export interface PreviewedRow {
  alert: AlertRecord;
  /** What held last. */
  verdict: HoldingVerdict;
  /** When it became active first; undefined: it never was. */
  openedAt: Instant | undefined;
  /** Channels that were told, and when: one that waits for its turn is not told of what ends before. */
  readonly told: Map<string, Instant>;
  /** How its message waited for a parent. */
  forParents: HeldForParents | undefined;
}

/** Every channel is there unless it is said which are, no person mutes or notes anything, and a message arrives at once. */
const world = { channelOf: (): Admitting => ({}), silences: [], note: undefined } as const;

/** The alerts of one type and subject of one CronJob over time: `next` moves them, as it moves those of the service. */
export class AlertsOverTime {
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
  readonly rows: PreviewedRow[] = [];
  readonly #channelOf: AlertWorld['channelOf'];
  readonly #finding: Omit<AlertFinding, 'verdict'>;
  readonly #parents: readonly PreviewedParent[];
  /** When the last run that has ended was made. */
  ranAt: Instant | undefined;

  constructor(
    { type, subject }: Pick<AlertFinding, 'type' | 'subject'>,
    rules: AlertRules,
    channelOf: AlertWorld['channelOf'] | undefined,
    { uid, namespace, name, parents = [] }: Pick<PreviewedCronJob, 'uid' | 'namespace' | 'name' | 'parents'>,
  ) {
    this.#parents = parents;
    this.type = type;
    this.#channelOf = channelOf ?? world.channelOf;
    this.subject = subject;
    const monitor = { id: 0, uid: '', namespace: '', name: '' };
    this.#finding = { monitor, cronJob: { id: 0, uid, namespace, name }, type, subject, rules };
  }

  /** How bad it is when this holds. */
  severityOf(verdict: HoldingVerdict): Severity {
    return alertSeverity(this.type, this.#finding.rules.severityOverrides, verdict.severity).severity;
  }

  get live(): PreviewedRow | undefined {
    const last = this.rows.at(-1);
    return last && last.alert.endedAt === undefined ? last : undefined;
  }

  /** When it must be looked at again although nothing happens; undefined: never. */
  get dueAt(): Instant | undefined {
    const { state, dueAt, flappingUntil, lastNotifiedAt } = this.live?.alert ?? {};
    const isTold = state === 'active' && lastNotifiedAt !== undefined;
    const remindAt = isTold ? lastNotifiedAt + remindAfterMs(this.#finding.rules) : Infinity;
    const at = Math.min(dueAt ?? Infinity, flappingUntil ?? Infinity, remindAt);
    return at === Infinity ? undefined : at;
  }

  /** The verdict holds. `occurred`: failures or missed runs that are new; `hold`: what holds its message back. */
  holds(verdict: HoldingVerdict, occurred: number, hold: MessageHold | undefined, now: Instant): void {
    const { since: sinceAt, count, detail, severity } = verdict;
    const signature = typeof detail['signature'] === 'string' ? detail['signature'] : undefined;
    // Only what is listed in the end is worded, and from the verdict.
    const unworded = { message: '', figures: undefined, context: undefined, delayed: false };
    this.#follow({ kind: 'holds', sinceAt, count, occurred, severity, signature, hold, ...unworded }, now, verdict);
  }

  /** The verdict is quiet, or it cannot be judged any more. */
  ends(verdict: Exclude<FindingVerdict, { readonly kind: 'holds' }>, now: Instant): void {
    const { live } = this;
    if (live) this.#follow(verdict, now, live.verdict);
  }

  #follow(verdict: FindingVerdict, now: Instant, held: HoldingVerdict): void {
    const before = this.rows.at(-1);
    const { live } = this;
    const newId = String(this.rows.length);
    const step = next(
      live?.alert,
      { ...this.#finding, verdict, dependent: this.#parents.length === 0 ? undefined : { ranAt: this.ranAt } },
      {
        ...world,
        channelOf: this.#channelOf,
        now,
        newId,
        fingerprint: '',
        last: live ? undefined : before?.alert,
        parents: this.#parents.filter(({ fromAt, untilAt = Infinity }) => fromAt <= now && now < untilAt),
        told: {
          isUnderway: false,
          isTakenBack: false,
          lastHold: undefined,
          forParents: live && forParentsAt(live, now),
        },
      },
    );
    if (live) live.verdict = held;
    if (typeof step === 'string') return;
    const { alert, decisions, messages } = step;
    const row: PreviewedRow =
      before?.alert.id === alert.id
        ? before
        : { alert, verdict: held, openedAt: undefined, told: new Map(), forParents: undefined };
    for (const { reason, detail, untilAt } of decisions) {
      if (reason !== 'dependsOn') continue;
      const before = live && row.forParents;
      const holder = this.#parents.find(({ id }) => id === detail);
      row.forParents = {
        sinceAt: before?.sinceAt ?? now,
        releasedAt: holder ? holder.untilAt : before?.releasedAt,
        untilAt: holder ? undefined : untilAt,
      };
    }
    if (row !== before) this.rows.push(row);
    const channels = messages.flatMap((message) => ('channels' in message ? message.channels : []));
    for (const { name, afterMs } of channels)
      row.told.set(name, Math.min(now + afterMs, row.told.get(name) ?? Infinity));
    row.openedAt ??= alert.activatedAt;
    Object.assign(row, { verdict: held, alert: channels.length > 0 ? { ...alert, lastNotifiedAt: now } : alert });
  }
}

/** What is still to come releases nothing yet. */
function forParentsAt({ forParents }: PreviewedRow, now: Instant): HeldForParents | undefined {
  const { releasedAt } = forParents ?? {};
  return (
    forParents && { ...forParents, releasedAt: releasedAt !== undefined && releasedAt <= now ? releasedAt : undefined }
  );
}
