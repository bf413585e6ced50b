import type { Ref, SlaTargetVerdict, Verdict, Words } from '@cronjob-monitor/shared/contract';
import { toVerdict, type BrokenTarget } from '@cronjob-monitor/shared/domain';
import type { StoredAlert, ToldFacts } from '@cronjob-monitor/shared/store';
import { presentTold } from '../alerts/told.ts';
import { alertHolds, silenceHolds } from './of-alert.ts';
import type { Surroundings } from './surroundings.ts';

/** What is known of one target. */
interface TargetFacts {
  readonly cronJob: Ref;
  readonly verdict: SlaTargetVerdict;
  readonly words: Words;
  /** As it was judged last. */
  readonly broken: BrokenTarget | undefined;
  /** The open alert about it. */
  readonly alert: StoredAlert | undefined;
  readonly told: ToldFacts | undefined;
}

/** What is said of one target: broken ones have the severity of their alert, or are failing. */
export function verdictOfTarget(facts: TargetFacts, surroundings: Surroundings): Verdict {
  const { alert, broken } = facts;
  const told = alert && presentTold(alert, facts.told, surroundings.now);
  const standing = standingOf(facts);
  const silence = standing.state === 'failing' ? silenceHolds(facts.cronJob, surroundings) : [];
  return toVerdict(
    standing,
    { words: facts.words, sinceAt: alert?.sinceAt ?? broken?.sinceAt },
    {
      holds: alert && told ? alertHolds(alert, told, surroundings) : silence,
      told,
      revision: surroundings.revision,
    },
  );
}

function standingOf({ verdict, alert }: TargetFacts): Pick<Verdict, 'state' | 'kind'> {
  if (verdict === 'noData') return { state: 'unknown', kind: 'neverRan' };
  if (verdict === 'atRisk' || verdict === 'met') return { state: 'healthy', kind: 'succeeded' };
  const isOpen = alert !== undefined && alert.state !== 'pending';
  return isOpen ? { state: alert.severity, kind: 'slaBreached' } : { state: 'failing', kind: 'targetMissed' };
}
