import { fingerprintOf, type MutableAlert } from '@cronjob-monitor/shared/domain';
import {
  insertAlert,
  isOnlySeen,
  listAcknowledgements,
  listLiveAlerts,
  listRoutedChannels,
  listSilences,
  lockCronJobs,
  lockLastEndedAlerts,
  lockLiveAlerts,
  moveAlertCounters,
  recordChanges,
  recordDecisions,
  updateAlert,
  updateSeen,
  type AlertRecord,
  type Change,
  type Tx,
} from '@cronjob-monitor/shared/store';
import { Births } from './births.ts';
import { endSilencesOf } from './end-silences.ts';
import { followEnd } from './follow-end.ts';
import { followHolding } from './follow-holding.ts';
import type { AlertFinding, RaiseDeps, RaisedAlert } from './finding.ts';
import { toMutable, type Turn } from './turn.ts';
import { withheldReasons } from './withheld.ts';

/** A row as it was and as it becomes; `stored` undefined: it is new. */
export interface Followed {
  readonly stored: AlertRecord | undefined;
  readonly alert: AlertRecord;
}

/**
 * Brings alerts, messages, ledger and counters in line with what was found, inside the caller's fenced transaction: the rows of the
 * CronJobs are locked first, so there is one such transaction per CronJob at a time. Findings that change nothing write nothing.
 * Returns the alerts that were written. Metrics are moved after the commit, by the caller, which commits.
 */
export async function raise(tx: Tx, findings: readonly AlertFinding[], deps: RaiseDeps): Promise<RaisedAlert[]> {
  if (findings.length === 0) return [];
  const cronJobIds = [...new Set(findings.map(({ cronJob }) => cronJob.id))];
  await lockCronJobs(tx, cronJobIds);
  const prints = findings.map((finding) =>
    fingerprintOf({
      monitorUid: finding.monitor.uid,
      cronJobUid: finding.cronJob.uid,
      type: finding.type,
      subject: finding.subject,
    }),
  );
  const live = new Map(await lockLiveAlerts(tx, prints));
  const moving = findings.some(({ verdict }, index) => verdict.kind === 'holds' || live.has(prints[index] ?? ''));
  if (!moving) return [];
  const now = tx.now();
  const silences = await listSilences(tx, now);
  const channels = await listRoutedChannels(tx);
  const notes = await listAcknowledgements(
    tx,
    [...live.values()].map(({ id }) => id),
  );
  const beginning = prints.filter((print, index) => findings[index]?.verdict.kind === 'holds' && !live.has(print));
  const last = new Map(await lockLastEndedAlerts(tx, beginning));
  const open = new OpenSubjects(beginning.length === 0 ? [] : await listLiveAlerts(tx, cronJobIds));
  const births = new Births();

  const raised: RaisedAlert[] = [];
  const ended: MutableAlert[] = [];
  /** Alerts of which nothing is new but that they hold still: at rest that is all of them. */
  const seen: string[] = [];
  for (const [index, finding] of findings.entries()) {
    const fingerprint = prints[index] ?? '';
    const before = live.get(fingerprint);
    const isNew = before === undefined && !last.has(fingerprint) && !open.has(subjectOf(finding));
    // What this one asks may be about those before it.
    if (!isNew) await births.write(tx);
    const turn: Turn = {
      tx,
      now,
      finding,
      verdict: finding.verdict,
      fingerprint,
      channels,
      silences,
      notes,
      deps,
      last: last.get(fingerprint),
      births: isNew ? births : undefined,
      decisions: [],
      unsent: [],
    };
    // One after the other: the twin of the next may be made by this one.
    const followed = await follow(turn, before);
    if (followed === undefined) continue;
    const alert = withEndOfFlapping(followed.alert);
    const { stored } = followed;
    const isQuiet = stored !== undefined && turn.decisions.length === 0 && isOnlySeen(tx, stored, alert);
    if (isQuiet) seen.push(alert.id);
    else await write(turn, { ...followed, alert });
    if (alert.endedAt === undefined) {
      live.set(fingerprint, { ...alert, fingerprint });
      open.add(subjectOf(finding));
    } else {
      live.delete(fingerprint);
      last.set(fingerprint, alert);
      ended.push(toMutable(finding, alert));
    }
    const withheld = withheldReasons(turn.decisions, before);
    const { unsent } = turn;
    raised.push({ alert, cronJobUid: finding.cronJob.uid, before: before?.state, withheld, unsent });
  }
  await births.write(tx);
  await updateSeen(tx, seen, now);
  await moveAlertCounters(
    tx,
    raised.map(({ alert }) => alert.cronJobId),
  );
  await endSilencesOf(tx, ended, silences);
  return raised;
}

/** Undefined: nothing changes. */
async function follow(turn: Turn, before: AlertRecord | undefined): Promise<Followed | undefined> {
  const { verdict } = turn;
  if (verdict.kind === 'holds') return followHolding({ ...turn, verdict }, before);
  return before && followEnd({ ...turn, verdict }, before);
}

/** That it flaps no more is a matter of time: it is looked at then, whether anything happens or not. */
function withEndOfFlapping(alert: AlertRecord): AlertRecord {
  const { state, dueAt, flappingUntil } = alert;
  return state === 'active' && dueAt === undefined ? { ...alert, dueAt: flappingUntil } : alert;
}

async function write(turn: Turn, { stored, alert }: Followed): Promise<void> {
  const { tx, births } = turn;
  if (births) return births.add(alert, turn.decisions, changeOf(turn, alert));
  await (stored === undefined ? insertAlert(tx, alert) : updateAlert(tx, alert));
  await recordDecisions(tx, turn.decisions);
  const isShown =
    stored === undefined ||
    stored.state !== alert.state ||
    stored.severity !== alert.severity ||
    stored.count !== alert.count;
  if (isShown) await recordChanges(tx, [changeOf(turn, alert)]);
}

function changeOf({ finding: { monitor, cronJob } }: Turn, alert: AlertRecord): Change {
  return {
    kind: 'alert',
    namespace: alert.namespace,
    data: {
      id: alert.id,
      state: alert.state,
      type: alert.type,
      subject: alert.subject ?? null,
      severity: alert.severity,
      cronjob: { namespace: cronJob.namespace, name: cronJob.name },
      monitor: { namespace: monitor.namespace, name: monitor.name },
    },
  };
}

/** What live alerts are about, whosever they are: two monitors may say the same of one CronJob. */
class OpenSubjects {
  readonly #keys: Set<string>;

  constructor(alerts: readonly AlertRecord[]) {
    this.#keys = new Set(alerts.map((alert) => subjectKey(alert)));
  }

  has(subject: AlertSubject): boolean {
    return this.#keys.has(subjectKey(subject));
  }

  add(subject: AlertSubject): void {
    this.#keys.add(subjectKey(subject));
  }
}

type AlertSubject = Pick<AlertRecord, 'cronJobId' | 'type' | 'subject'>;

function subjectKey({ cronJobId, type, subject }: AlertSubject): string {
  return `${cronJobId} ${type} ${subject ?? ''}`;
}

function subjectOf({ cronJob, type, subject }: AlertFinding): AlertSubject {
  return { cronJobId: cronJob.id, type, subject };
}
