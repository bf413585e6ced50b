import type { AlertSubject, AlertType, Severity } from '../../contract/index.ts';
import { isEdge } from '../alert/edge.ts';
import { addFlip, flappingUntil, isFlapping, type Flips } from '../alert/flapping.ts';
import { messageHold, muteOf, type MessageHold, type Mute } from '../alert/holds.ts';
import { quietVerdictsNeeded } from '../alert/resolve-hold.ts';
import { routesOf, type ChannelRef } from '../alert/routes.ts';
import { alertSeverity } from '../alert/severity.ts';
import { nextAlertState } from '../alert/transitions.ts';
import type { HoldingVerdict } from '../delivery/to-holding.ts';
import type { Instant } from '../instant.ts';
import type { MaintenanceWindow } from '../mute/maintenance.ts';

/** What a monitor wants done with what it finds. */
export interface PreviewAlertRules {
  readonly severityOverrides: Partial<Readonly<Record<AlertType, Severity>>> | undefined;
  readonly alertDelayMs: number;
  readonly suppressDuplicatesForMs: number;
  readonly remindEveryMs: number;
  readonly alerting: { readonly enabled: boolean; readonly channelRefs: readonly ChannelRef[] } | undefined;
  readonly windows: readonly MaintenanceWindow[];
}

/** One alert as it would have been. */
export interface AlertRow {
  state: 'pending' | 'suppressed' | 'active' | 'cancelled' | 'resolved' | 'expired';
  sinceAt: Instant;
  readonly detectedAt: Instant;
  activatedAt: Instant | undefined;
  endedAt: Instant | undefined;
  dueAt: Instant | undefined;
  lastNotifiedAt: Instant | undefined;
  flips: Flips;
  flappingUntil: Instant | undefined;
  quietCount: number;
  reopened: number;
  verdict: HoldingVerdict;
  readonly told: Set<string>;
}

const askAgainMs = 60_000;

/** The alerts of one type and subject of one CronJob over time: the states of alerting.md section 2, without rows and messages. */
export class AlertLife {
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
  readonly severity: Severity;
  readonly rows: AlertRow[] = [];
  readonly #rules: PreviewAlertRules;
  readonly #mutable: { readonly namespace: string; readonly cronJobName: string };
  readonly #channels: readonly string[];

  constructor(
    of: { readonly type: AlertType; readonly subject: AlertSubject | undefined },
    rules: PreviewAlertRules,
    cronJob: { readonly namespace: string; readonly name: string },
  ) {
    this.type = of.type;
    this.subject = of.subject;
    this.#rules = rules;
    this.#mutable = { namespace: cronJob.namespace, cronJobName: cronJob.name };
    this.severity = alertSeverity(of.type, rules.severityOverrides).severity;
    const routes = routesOf(rules.alerting, this.severity, () => true);
    this.#channels = 'told' in routes ? [...new Set(routes.told)] : [];
  }

  get live(): AlertRow | undefined {
    const last = this.rows.at(-1);
    return last && last.endedAt === undefined ? last : undefined;
  }

  /** When it must be looked at again although nothing happens; undefined: never. */
  get dueAt(): Instant | undefined {
    const { live } = this;
    if (!live) return undefined;
    const { suppressDuplicatesForMs, remindEveryMs } = this.#rules;
    const remindAt =
      live.state === 'active' && live.lastNotifiedAt !== undefined
        ? live.lastNotifiedAt + Math.max(suppressDuplicatesForMs, remindEveryMs)
        : Infinity;
    const at = Math.min(live.dueAt ?? Infinity, live.flappingUntil ?? Infinity, remindAt);
    return at === Infinity ? undefined : at;
  }

  /** The verdict holds. `occurred`: failures or missed runs that are new; `imposed`: what holds its message back. */
  holds(verdict: HoldingVerdict, occurred: number, imposed: MessageHold | undefined, now: Instant): void {
    const { live } = this;
    if (!live) return this.#begin(verdict, imposed, now);
    live.verdict = verdict;
    if (live.state === 'active') return this.#goOn(live, occurred, imposed, now);
    const mute = this.#muteAt(now);
    const delayed = live.state === 'pending' && live.dueAt !== undefined && now < live.dueAt;
    this.#enter(
      live,
      nextAlertState(live.state, { kind: 'holds', delayed, muted: mute !== undefined }),
      { mute, imposed },
      now,
    );
  }

  quiet(now: Instant): void {
    const { live } = this;
    if (!live || (live.state === 'active' && this.#staysActive(live, now))) return;
    this.#end(live, { kind: 'quiet' }, now);
  }

  /** It cannot be judged any more. */
  gone(now: Instant): void {
    if (this.live) this.#end(this.live, { kind: 'gone' }, now);
  }

  #begin(verdict: HoldingVerdict, imposed: MessageHold | undefined, now: Instant): void {
    const last = this.rows.at(-1);
    const { alertDelayMs, suppressDuplicatesForMs } = this.#rules;
    const reopens =
      last !== undefined &&
      last.state !== 'cancelled' &&
      last.lastNotifiedAt !== undefined &&
      now < last.lastNotifiedAt + suppressDuplicatesForMs;
    const before = reopens ? last.state : 'none';
    const row: AlertRow = reopens ? last : this.#newRow(verdict, last?.flips ?? [], now);
    if (reopens) {
      Object.assign(row, { sinceAt: verdict.since, activatedAt: undefined, endedAt: undefined, verdict });
      Object.assign(row, { flappingUntil: undefined, quietCount: 0, reopened: row.reopened + 1 });
    } else this.rows.push(row);
    const mute = this.#muteAt(now);
    const state = nextAlertState(before, { kind: 'holds', delayed: alertDelayMs > 0, muted: mute !== undefined });
    if (state === 'pending') Object.assign(row, { state, dueAt: now + alertDelayMs });
    else this.#enter(row, state, { mute, imposed }, now);
  }

  #newRow(verdict: HoldingVerdict, flips: Flips, now: Instant): AlertRow {
    return {
      state: 'pending',
      sinceAt: verdict.since,
      detectedAt: now,
      activatedAt: undefined,
      endedAt: undefined,
      dueAt: undefined,
      lastNotifiedAt: undefined,
      flips,
      flappingUntil: undefined,
      quietCount: 0,
      reopened: 0,
      verdict,
      told: new Set(),
    };
  }

  #enter(
    row: AlertRow,
    state: string,
    by: { readonly mute: Mute | undefined; readonly imposed: MessageHold | undefined },
    now: Instant,
  ): void {
    const { mute, imposed } = by;
    if (state === 'pending') return;
    if (state === 'suppressed' && mute) return void Object.assign(row, { state, dueAt: mute.untilAt });
    const flips = addFlip(row.flips, now);
    const flaps = isFlapping(flips, now);
    Object.assign(row, { state: 'active', activatedAt: now, dueAt: undefined, flips, quietCount: 0 });
    row.flappingUntil = flaps ? flappingUntil(flips) : undefined;
    const hold = messageHold(
      {
        imposed,
        mute,
        passesDuplicates: flaps,
        flappingUntil: undefined,
        lastNotifiedAt: row.lastNotifiedAt,
        isUnderway: false,
        windowMs: this.#rules.suppressDuplicatesForMs,
      },
      now,
    );
    if (hold) row.dueAt = hold.untilAt ?? now + askAgainMs;
    else this.#tell(row, now);
  }

  #goOn(row: AlertRow, occurred: number, imposed: MessageHold | undefined, now: Instant): void {
    const wasQuiet = row.quietCount > 0;
    row.quietCount = 0;
    let flappedOut = false;
    if (row.flappingUntil !== undefined && now >= row.flappingUntil) {
      Object.assign(row, { flips: [], flappingUntil: undefined });
      flappedOut = true;
    } else if (row.flappingUntil !== undefined && wasQuiet) {
      row.flips = addFlip(row.flips, now);
      row.flappingUntil = flappingUntil(row.flips);
    }
    const { suppressDuplicatesForMs, remindEveryMs } = this.#rules;
    const isOwed = row.dueAt !== undefined || flappedOut;
    const isNew = isEdge(this.type) && occurred > 0;
    const remindMs = Math.max(suppressDuplicatesForMs, remindEveryMs);
    const isRemindedOf = row.lastNotifiedAt !== undefined && now >= row.lastNotifiedAt + remindMs;
    if (!isOwed && !isNew && !isRemindedOf) return;
    const hold = messageHold(
      {
        imposed,
        mute: this.#muteAt(now),
        passesDuplicates: false,
        flappingUntil: row.flappingUntil,
        lastNotifiedAt: row.lastNotifiedAt,
        isUnderway: false,
        windowMs: suppressDuplicatesForMs,
      },
      now,
    );
    if (!hold) return this.#tell(row, now);
    const isHeldBack = hold.reason !== 'duplicate' && hold.reason !== 'flapping';
    if (isOwed || (isNew && isHeldBack)) row.dueAt = hold.untilAt ?? now + askAgainMs;
  }

  #staysActive(row: AlertRow, now: Instant): boolean {
    if (row.flappingUntil !== undefined) {
      if (now >= row.flappingUntil) return false;
      if (row.quietCount > 0) return true;
      row.flips = addFlip(row.flips, now);
      Object.assign(row, { flappingUntil: flappingUntil(row.flips), dueAt: undefined, quietCount: 1 });
      return true;
    }
    if (row.quietCount + 1 < quietVerdictsNeeded(this.type, this.subject)) {
      row.quietCount++;
      return true;
    }
    const flips = addFlip(row.flips, now);
    if (!isFlapping(flips, now)) return false;
    Object.assign(row, { flips, flappingUntil: flappingUntil(flips), dueAt: undefined, quietCount: 1 });
    if (!this.#muteAt(now)) this.#tell(row, now);
    return true;
  }

  #end(row: AlertRow, event: { readonly kind: 'quiet' | 'gone' }, now: Instant): void {
    const flips = row.flappingUntil !== undefined ? [] : row.state === 'active' ? addFlip(row.flips, now) : row.flips;
    const state = nextAlertState(row.state, event, row.reopened > 0);
    Object.assign(row, { state, endedAt: now, dueAt: undefined, flips, flappingUntil: undefined, quietCount: 0 });
  }

  /** A message is taken to arrive at once. */
  #tell(row: AlertRow, now: Instant): void {
    row.dueAt = undefined;
    if (this.#channels.length === 0) return;
    row.lastNotifiedAt = now;
    for (const channel of this.#channels) row.told.add(channel);
  }

  #muteAt(now: Instant): Mute | undefined {
    const { windows } = this.#rules;
    if (windows.length === 0) return undefined;
    const monitor = { namespace: '', name: '' };
    return muteOf({ ...this.#mutable, id: '', type: this.type, severity: this.severity, monitor }, windows, [], now);
  }
}
