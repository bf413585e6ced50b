import type { HealthState, Ref, Told, Verdict, VerdictHold } from '@cronjob-monitor/shared/contract';
import {
  alertWords,
  holdsOf,
  lastFlipAt,
  toAlertFacts,
  toVerdict,
  type Instant,
  type VerdictAddition,
  matches,
  type MutableAlert,
  type WordedAlert,
  isObject,
} from '@cronjob-monitor/shared/domain';
import type { StoredAlert, StoredSilence } from '@cronjob-monitor/shared/store';
import type { Surroundings } from './surroundings.ts';

/** An alert as its sentence needs it. */
export function toWordedAlert(alert: StoredAlert): WordedAlert {
  const figures = isObject(alert.figures) ? alert.figures : {};
  const number = (key: string): number | undefined => (typeof figures[key] === 'number' ? figures[key] : undefined);
  const { type, subject, sinceAt, endedAt, count, isWellForNow, flappingUntil } = alert;
  const facts = toAlertFacts(alert.context);
  const figuresOf = { measured: number('measured'), limit: number('limit') };
  const wellSinceAt = isWellForNow && flappingUntil !== undefined ? lastFlipAt(flappingUntil) : undefined;
  return { type, subject, sinceAt, endedAt, count, wellSinceAt, facts, ...figuresOf };
}

/** The judgement that an alert is: its sentence is the same wherever it is shown. */
export function verdictOfAlert(
  alert: StoredAlert,
  told: Told,
  surroundings: Surroundings,
  explained: Pick<VerdictAddition, 'cause' | 'change' | 'logLine' | 'step' | 'findings'>,
): Verdict {
  const worded = toWordedAlert(alert);
  return toVerdict(
    { state: stateOf(alert), kind: alert.type },
    { words: alertWords(worded), sinceAt: alert.sinceAt },
    {
      ...explained,
      holds: alertHolds(alert, told, surroundings),
      told,
      revision: surroundings.revision,
    },
  );
}

/** Of history: what was resolved is well, of the rest nothing is known any more. */
function stateOf({ state, severity }: StoredAlert): HealthState {
  if (state === 'active' || state === 'suppressed') return severity;
  if (state === 'pending') return 'failing';
  return state === 'resolved' ? 'healthy' : 'unknown';
}

/** Every hold in force on an open alert, whether a message went out before it began or not. */
export function alertHolds(
  alert: StoredAlert,
  told: Told,
  { now, silences }: Pick<Surroundings, 'now' | 'silences'>,
): VerdictHold[] {
  if (alert.endedAt !== undefined) return [];
  const { acknowledgement } = alert;
  const isNoted = acknowledgement && (acknowledgement.expiresAt ?? Infinity) > now;
  const silence = silenceOf(alert, silences);
  const isMaintained =
    (alert.state === 'suppressed' && alert.suppressedBy === 'maintenance') || told.reason === 'maintenance';
  const maintenance = isMaintained ? { untilAt: alert.dueAt ?? untilOf(told) } : undefined;
  return holdsOf({
    acknowledged: isNoted ? { by: acknowledgement.by, untilAt: acknowledgement.expiresAt } : undefined,
    silence: silence && silenceFacts(silence),
    maintenance,
    told: waitsFor(told),
  });
}

/** The silence in force that holds an alert, whether a message went out before it began or not. */
export function silenceOf(
  { id, cronJob, type, severity, monitor }: StoredAlert,
  silences: Surroundings['silences'],
): Surroundings['silences'][number] | undefined {
  const { namespace, name: cronJobName } = cronJob;
  return lastSilence(silences, { id, namespace, cronJobName, type, severity, monitor });
}

/** What there is without an alert all the same: a silence of its name, or of its namespace. */
export function silenceHolds({ namespace, name }: Ref, { silences }: Pick<Surroundings, 'silences'>): VerdictHold[] {
  const nothing = { namespace: '', name: '' };
  const silence = lastSilence(silences, {
    id: '',
    namespace,
    cronJobName: name,
    type: '',
    severity: '',
    monitor: nothing,
  });
  const facts = silence && silenceFacts(silence);
  return holdsOf({ acknowledged: undefined, silence: facts, maintenance: undefined, told: undefined });
}

function silenceFacts({ createdBy, endsAt, untilResolved }: Surroundings['silences'][number]) {
  return { by: createdBy, untilAt: endsAt, endsWithCause: untilResolved };
}

function waitsFor(told: Told): Parameters<typeof holdsOf>[0]['told'] {
  if (told.state !== 'held' && told.state !== 'waiting') return undefined;
  return { reason: told.reason, untilAt: untilOf(told), heard: heardOf(told) };
}

function heardOf({ channels }: Told): string | undefined {
  const heard = channels.filter(({ state }) => state === 'sent' || state === 'collapsed' || state === 'digested');
  return heard.length === 0 || channels.length === 1 ? undefined : `${heard.length} of ${channels.length} channels`;
}

function untilOf({ until }: Told): Instant | undefined {
  return until === null ? undefined : Date.parse(until);
}

/** The silence in force that ends last, of those that hold an alert or a CronJob that could have one. */
function lastSilence(silences: readonly StoredSilence[], of: MutableAlert): StoredSilence | undefined {
  return silences
    .filter(({ matcher }) => matches(matcher, of))
    .reduce<StoredSilence | undefined>((last, one) => (last && last.endsAt >= one.endsAt ? last : one), undefined);
}
