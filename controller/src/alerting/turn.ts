import { muteOf, muteThroughout, type Instant, type MutableAlert, type Mute } from '@cronjob-monitor/shared/domain';
import type {
  AlertDecision,
  AlertRecord,
  RoutedChannel,
  StoredAcknowledgement,
  StoredSilence,
  Tx,
} from '@cronjob-monitor/shared/store';
import type { Births } from './births.ts';
import type { AlertFinding, FindingVerdict, RaiseDeps } from './finding.ts';
import type { UnsentMessage } from './withheld.ts';

/** One finding on its way into rows, with all that its decisions need. */
export interface Turn<V extends FindingVerdict = FindingVerdict> {
  readonly tx: Tx;
  /** One instant for all rows of a transaction. */
  readonly now: Instant;
  readonly finding: AlertFinding;
  readonly verdict: V;
  readonly fingerprint: string;
  readonly channels: ReadonlyMap<string, RoutedChannel>;
  readonly silences: readonly StoredSilence[];
  /** Notes that people took of live alerts, by id of the alert. */
  readonly notes: ReadonlyMap<string, StoredAcknowledgement>;
  readonly deps: RaiseDeps;
  /** The alert of this identity that ended last. */
  readonly last: AlertRecord | undefined;
  /** The identity is new and no other monitor's alert is like it: its rows are written with those of others, and nothing is asked. */
  readonly births: Births | undefined;
  /** Written with the alert, in this order. */
  readonly decisions: AlertDecision[];
  /** For metrics. */
  readonly unsent: UnsentMessage[];
}

/** Notes a decision about the alert. */
export function decide(
  turn: Turn,
  alert: Pick<AlertRecord, 'id'>,
  decision: Omit<AlertDecision, 'alertId' | 'cronJobId'>,
): void {
  turn.decisions.push({ ...decision, alertId: alert.id, cronJobId: turn.finding.cronJob.id });
}

/** When what was found came to be: now, or at an instant that has passed where such a time is judged. */
export function happenedAt({ now, verdict }: Pick<Turn, 'now' | 'verdict'>): Instant {
  const at = verdict.kind === 'holds' ? verdict.happenedAt : verdict.endedAt;
  return Math.min(now, at ?? now);
}

/** What a person muted of this alert now; of what has passed, as long as it would have been told. */
export function muteNow(turn: Turn, alert: Pick<AlertRecord, 'id' | 'severity'>): Mute | undefined {
  const { finding, now, silences, verdict } = turn;
  const mutable = toMutable(finding, alert);
  const { windows, alertDelayMs } = finding.rules;
  if (verdict.kind !== 'holds' || verdict.happenedAt === undefined) return muteOf(mutable, windows, silences, now);
  const span = { fromAt: verdict.happenedAt + alertDelayMs, toAt: Math.min(now, verdict.untilAt ?? now) };
  return muteThroughout(mutable, windows, silences, span);
}

/** The alert as silences are asked about it. */
export function toMutable(
  { monitor, cronJob, type }: AlertFinding,
  { id, severity }: Pick<AlertRecord, 'id' | 'severity'>,
): MutableAlert {
  return {
    id,
    namespace: cronJob.namespace,
    cronJobName: cronJob.name,
    type,
    severity,
    monitor: { namespace: monitor.namespace, name: monitor.name },
  };
}
