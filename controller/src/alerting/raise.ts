import type { AlertState } from '@cronjob-monitor/shared/contract';
import {
  type AlertFinding,
  type AlertRecord,
  type AlertStep,
  type AlertWorld,
  fingerprintOf,
  type HeldBefore,
  type Instant,
  isInForce,
  matches,
  type MutableAlert,
  next,
  type ParentAlert,
  refText,
  type SilenceMatcher,
  type ToldBefore,
  toMutable,
} from '@cronjob-monitor/shared/domain';
import {
  type AlertDecision,
  type Change,
  findHeldForParents,
  findLastHold,
  firstNoticeCause,
  insertAlerts,
  insertNewDeliveries,
  isOnlySeen,
  listAcknowledgements,
  listDeliveriesOfAlert,
  listLiveAlerts,
  listMutableAlerts,
  listParentAlerts,
  listRoutedChannels,
  listSilences,
  lockCronJobs,
  lockLastEndedAlerts,
  lockLiveAlerts,
  lockSilence,
  moveAlertCounters,
  type NewDelivery,
  newId,
  recordChanges,
  recordDecisions,
  type RoutedChannel,
  type StoredAcknowledgement,
  type StoredSilence,
  type Tx,
  updateAcknowledgementEnd,
  updateAlert,
  updateCancelled,
  updateSeen,
  updateSilenceEnd,
} from '@cronjob-monitor/shared/store';
import { notifyEnd } from './notify-end.ts';
import type { FreezeMessage } from './freeze.ts';
import { decide, type MessageWriting, notify, type UnsentMessage } from './notify.ts';

/** The alert that a finding raised or changed: for metrics and for the instant of the next check. */
export interface RaisedAlert {
  readonly alert: AlertRecord;
  readonly cronJobUid: string;
  /** Undefined: the alert is new. */
  readonly before: AlertState | undefined;
  /** Why messages about the alert were held or not made. */
  readonly withheld: readonly string[];
  readonly unsent: readonly UnsentMessage[];
}

/**
 * Writes alerts, messages and timelines for these findings, inside the caller's fenced transaction. `next` decides about each finding; `raise`
 * reads the facts for `next` and writes its decisions:
 *
 * 1. The rows of the CronJobs are locked, so there is one such transaction per CronJob at a time; then their live alerts, and the alerts
 *    of the same identities that ended last.
 * 2. Findings are followed in their order: a finding about an alert that an earlier finding changed, or whose message is the twin of an
 *    earlier message, sees that change.
 * 3. Rows are gathered and written together: before a query that reads them, and at the end.
 *
 * Findings that change nothing write nothing. Returns the alerts that were written. Metrics are moved after the commit, by the caller.
 */
export async function raise(
  tx: Tx,
  findings: readonly AlertFinding[],
  { freeze }: { readonly freeze: FreezeMessage },
): Promise<RaisedAlert[]> {
  if (findings.length === 0) return [];
  const known = await lockAndRead(tx, findings);
  if (known === undefined) return [];
  const raising = new Raising(tx, known, freeze);
  for (const [index, finding] of findings.entries()) await raising.follow(finding, known.prints[index] ?? '');
  return raising.finish();
}

interface Known {
  readonly now: Instant;
  /** Fingerprints in the order of the findings. */
  readonly prints: readonly string[];
  /** By fingerprint. */
  readonly live: ReadonlyMap<string, AlertRecord>;
  readonly last: ReadonlyMap<string, AlertRecord>;
  /** Subjects of live alerts of all monitors: two monitors may raise the same alert about one CronJob. */
  readonly subjects: readonly string[];
  readonly channels: ReadonlyMap<string, RoutedChannel>;
  readonly silences: readonly StoredSilence[];
  readonly notes: ReadonlyMap<string, StoredAcknowledgement>;
  /** Alerts of the CronJobs on which others depend, by the dependent CronJob as `namespace/name`. */
  readonly parents: ReadonlyMap<string, readonly ParentAlert[]>;
}

/** Undefined: no condition holds, and no live alert has become quiet. */
async function lockAndRead(tx: Tx, findings: readonly AlertFinding[]): Promise<Known | undefined> {
  const cronJobIds = [...new Set(findings.map(({ cronJob }) => cronJob.id))];
  await lockCronJobs(tx, cronJobIds);
  const prints = findings.map(({ monitor, cronJob, type, subject }) =>
    fingerprintOf({ monitorUid: monitor.uid, cronJobUid: cronJob.uid, type, subject }),
  );
  const live = await lockLiveAlerts(tx, prints);
  const moving = findings.filter(({ verdict }, index) => verdict.kind === 'holds' || live.has(prints[index] ?? ''));
  if (moving.length === 0) return undefined;
  const now = tx.now();
  const happened = moving.flatMap(({ verdict }) => (verdict.kind === 'holds' ? (verdict.happenedAt ?? []) : []));
  // A silence that is over counts for conditions that happened while it lasted.
  const silences = await listSilences(tx, Math.min(now, ...happened));
  const channels = await listRoutedChannels(tx);
  const liveIds = [...live.values()].map(({ id }) => id);
  const notes = await listAcknowledgements(tx, liveIds);
  const beginning = prints.filter((print, index) => findings[index]?.verdict.kind === 'holds' && !live.has(print));
  const last = await lockLastEndedAlerts(tx, beginning);
  const subjects = beginning.length === 0 ? [] : (await listLiveAlerts(tx, cronJobIds)).map(subjectOf);
  // A parent that recovered may flap, which is told too.
  const children = moving.filter(({ dependent }) => dependent !== undefined);
  const parents = await listParentAlerts(tx, [...new Set(children.map(({ cronJob }) => refText(cronJob)))]);
  return { now, prints, live, last, subjects, channels, silences, notes, parents };
}

/** One transaction's findings on their way into rows. */
class Raising {
  readonly #tx: Tx;
  readonly #known: Known;
  readonly #freeze: FreezeMessage;
  readonly #live: Map<string, AlertRecord>;
  readonly #last: Map<string, AlertRecord>;
  readonly #subjects: Set<string>;
  readonly #rows = new UnwrittenRows();
  readonly #raised: RaisedAlert[] = [];
  readonly #ended: MutableAlert[] = [];
  /** Alerts whose condition still holds and that are otherwise unchanged: in a quiet fleet, all live alerts. */
  readonly #seen: string[] = [];

  constructor(tx: Tx, known: Known, freeze: FreezeMessage) {
    this.#tx = tx;
    this.#known = known;
    this.#freeze = freeze;
    this.#live = new Map(known.live);
    this.#last = new Map(known.last);
    this.#subjects = new Set(known.subjects);
  }

  async follow(finding: AlertFinding, fingerprint: string): Promise<void> {
    const before = this.#live.get(fingerprint);
    const step = await this.#next(finding, fingerprint, before);
    if (step === undefined) return;
    const last = this.#last.get(fingerprint);
    const stored = before ?? (step.alert.id === last?.id ? last : undefined);
    const isFirst = stored === undefined && !this.#subjects.has(subjectOf(step.alert));
    const { alert, decisions, unsent } = await this.#writeMessages(finding, step, isFirst);
    if (step.endsNote) await updateAcknowledgementEnd(this.#tx, alert.id, this.#known.now);
    const isQuiet = stored !== undefined && decisions.length === 0 && isOnlySeen(this.#tx, stored, alert);
    if (isQuiet) this.#seen.push(alert.id);
    else this.#rows.add(alert, stored === undefined, decisions, changeOf(finding, stored, alert));
    if (alert.endedAt === undefined) {
      this.#live.set(fingerprint, alert);
      this.#subjects.add(subjectOf(alert));
    } else {
      this.#live.delete(fingerprint);
      this.#last.set(fingerprint, alert);
      this.#ended.push(toMutable(finding, alert));
    }
    const withheld = withheldReasons(decisions, before);
    this.#raised.push({ alert, cronJobUid: finding.cronJob.uid, before: before?.state, withheld, unsent });
  }

  async finish(): Promise<RaisedAlert[]> {
    const { now, silences } = this.#known;
    await this.#rows.write(this.#tx);
    await updateSeen(this.#tx, this.#seen, now);
    const cronJobIds = this.#raised.map(({ alert }) => alert.cronJobId);
    await moveAlertCounters(this.#tx, cronJobIds);
    await endSilencesOf(this.#tx, this.#ended, silences);
    return this.#raised;
  }

  /** Undefined: the finding changes no row. */
  async #next(
    finding: AlertFinding,
    fingerprint: string,
    before: AlertRecord | undefined,
  ): Promise<AlertStep | undefined> {
    const { now, channels, silences, notes, parents } = this.#known;
    const world: AlertWorld = {
      now,
      newId: before === undefined ? newId(now) : '',
      fingerprint,
      last: this.#last.get(fingerprint),
      channelOf: (name) => channels.get(name),
      silences,
      note: before && notes.get(before.id),
      parents: parents.get(refText(finding.cronJob)) ?? [],
      told: undefined,
    };
    let step = next(before, finding, world);
    if (step === 'asksWhatWasTold' && before !== undefined) {
      await this.#rows.write(this.#tx);
      step = next(before, finding, { ...world, told: await readTold(this.#tx, before, finding) });
    }
    return typeof step === 'string' ? undefined : step;
  }

  /** `isFirst`: the database holds no message about the alert yet, neither its own nor a twin's. */
  async #writeMessages(
    finding: AlertFinding,
    { alert, decisions, messages }: AlertStep,
    isFirst: boolean,
  ): Promise<Pick<MessageWriting, 'decisions' | 'unsent'> & { readonly alert: AlertRecord }> {
    if (messages.length > 0 && !isFirst) await this.#rows.write(this.#tx);
    const { now, channels } = this.#known;
    const writing: MessageWriting = {
      tx: this.#tx,
      now,
      finding,
      channels,
      freeze: this.#freeze,
      addUnasked: isFirst ? (delivery) => this.#rows.addDelivery(delivery) : undefined,
      decisions: [],
      unsent: [],
    };
    if (messages.some(({ kind }) => kind === 'takenBack')) await takeBackClosings(writing, alert);
    for (const decision of decisions) decide(writing, alert, decision);
    let told = alert;
    for (const message of messages) {
      if (message.kind === 'closing') told = await notifyEnd(writing, told, message.untold);
      else if (message.kind !== 'takenBack') await notify(writing, told, message);
    }
    return { alert: told, decisions: writing.decisions, unsent: writing.unsent };
  }
}

async function readTold(tx: Tx, alert: AlertRecord, { dependent }: AlertFinding): Promise<ToldBefore> {
  const deliveries = await listDeliveriesOfAlert(tx, alert.id);
  const hold = await findLastHold(tx, alert.id);
  const forParents = dependent && (await findHeldForParents(tx, alert.id, alert.activatedAt ?? alert.detectedAt));
  const heldAt = hold?.reason === 'dependsOn' ? forParents?.sinceAt : undefined;
  return {
    isUnderway: deliveries.some(({ kind, fate, stateReason }) => {
      // A message may wait long for its turn.
      const isOpen = (fate === 'ready' && stateReason !== 'after') || fate === 'claimed' || fate === 'parked';
      return kind !== 'closing' && isOpen;
    }),
    isTakenBack: deliveries.length > 0 && deliveries.every(({ fate }) => fate === 'cancelled'),
    // The timeline holds the reasons of messageHold.
    lastHold:
      hold?.reason === undefined ? undefined : { by: hold.reason as HeldBefore['by'], sinceAt: heldAt ?? hold.at },
    forParents,
  };
}

/** Alerts, messages, decisions and changes that are decided and not written yet; a few statements write them all. */
class UnwrittenRows {
  /** By id: a later step of an alert replaces the earlier one. */
  readonly #alerts = new Map<string, { readonly alert: AlertRecord; readonly isNew: boolean }>();
  #deliveries: NewDelivery[] = [];
  #decisions: AlertDecision[] = [];
  #changes: Change[] = [];

  addDelivery(delivery: NewDelivery): void {
    this.#deliveries.push(delivery);
  }

  add(alert: AlertRecord, isNew: boolean, decisions: readonly AlertDecision[], change: Change | undefined): void {
    this.#alerts.set(alert.id, { alert, isNew: isNew || this.#alerts.get(alert.id)?.isNew === true });
    this.#decisions.push(...decisions);
    if (change) this.#changes.push(change);
  }

  async write(tx: Tx): Promise<void> {
    const alerts = [...this.#alerts.values()];
    const [deliveries, decisions, changes] = [this.#deliveries, this.#decisions, this.#changes];
    if (alerts.length === 0) return;
    this.#alerts.clear();
    [this.#deliveries, this.#decisions, this.#changes] = [[], [], []];
    if (deliveries.length > 0) await insertNewDeliveries(tx, deliveries);
    // Ended alerts go first: an identity has at most one live row.
    for (const { alert, isNew } of alerts) if (!isNew) await updateAlert(tx, alert);
    const born = alerts.flatMap(({ alert, isNew }) => (isNew ? [alert] : []));
    if (born.length > 0) await insertAlerts(tx, born);
    await recordDecisions(tx, decisions);
    await recordChanges(tx, changes);
  }
}

/** The change for the event stream; undefined: no field that the stream shows has changed. */
function changeOf(
  { monitor, cronJob }: AlertFinding,
  stored: AlertRecord | undefined,
  alert: AlertRecord,
): Change | undefined {
  const { id, namespace, state, type, subject, severity, count } = alert;
  if (stored?.state === state && stored.severity === severity && stored.count === count) return undefined;
  const refs = {
    cronjob: { namespace: cronJob.namespace, name: cronJob.name },
    monitor: { namespace: monitor.namespace, name: monitor.name },
  };
  return { kind: 'alert', namespace, data: { id, state, type, subject: subject ?? null, severity, ...refs } };
}

function subjectOf({ cronJobId, type, subject }: AlertRecord): string {
  return `${cronJobId} ${type} ${subject ?? ''}`;
}

/**
 * Why messages were held or not made, once for each time, as `alerts_suppressed_total` counts them (metrics.md section 2): the reasons of
 * `told`, and `collapsed`. A held message is judged again and again; it counts when the hold begins.
 */
export function withheldReasons(
  decisions: readonly Pick<AlertDecision, 'action' | 'reason'>[],
  before: Pick<AlertRecord, 'state' | 'dueAt'> | undefined,
): string[] {
  const isOwed = before?.state === 'active' && before.dueAt !== undefined;
  return decisions.flatMap(({ action, reason }) => {
    switch (action) {
      case 'pending':
      case 'suppressed':
        return reason ?? [];
      case 'notRouted':
        // Other channels are told.
        return reason === 'instead' ? [] : (reason ?? []);
      case 'held':
        return isOwed ? [] : (reason ?? []);
      case 'occurrence':
        return reason === 'duplicate' ? reason : [];
      case 'cancelled':
        return reason === 'clearedBeforeSent' ? reason : [];
      case 'collapsed':
        return 'collapsed';
      default:
        return [];
    }
  });
}

/** Takes back closings of an alert whose condition holds again. A message about both beginning and end stays: it is about the past. */
async function takeBackClosings(writing: MessageWriting, alert: AlertRecord): Promise<void> {
  const { tx, now, unsent } = writing;
  for (const { id, kind, cause, channelUid, channelName } of await listDeliveriesOfAlert(tx, alert.id)) {
    if (kind !== 'closing' || cause === firstNoticeCause) continue;
    const { cancelled } = await updateCancelled(tx, id, now);
    if (!cancelled) continue;
    decide(writing, alert, { action: 'cancelled', reason: 'reopened', deliveryId: id, channelUid });
    unsent.push({ channel: channelName, kind, result: 'cancelled' });
  }
}

/** Ends silences that end with their alerts, in the transaction that ends the last alert they hold (alerting.md section 9). */
async function endSilencesOf(
  tx: Tx,
  ended: readonly MutableAlert[],
  silences: readonly StoredSilence[],
): Promise<void> {
  const now = tx.now();
  const candidates = silences.filter(
    (silence) => silence.untilResolved && isInForce(silence, now) && holdsAny(silence.matcher, ended),
  );
  // Locks in one order, so that of two alerts that end at once the later transaction sees the last one end.
  for (const { id } of candidates.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const silence = await lockSilence(tx, id);
    if (!silence?.untilResolved || !isInForce(silence, now)) continue;
    if (!holdsAny(silence.matcher, await listMutableAlerts(tx))) await updateSilenceEnd(tx, id, now);
  }
}

function holdsAny(matcher: SilenceMatcher, alerts: readonly MutableAlert[]): boolean {
  return alerts.some((alert) => matches(matcher, alert));
}
