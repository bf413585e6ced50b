import { minuteMs, secondMs, type Disturbance, type History, type Observation } from './history.ts';
import { Random } from './random.ts';
import { tailMs } from './random-history.ts';

export const calm = (history: History): Observation => ({ startsAt: history.startAt, disturbances: [] });

/** What breaks the view of a process that goes on. */
const ofTheView = ['watchCut', 'watchExpired'] as const;
/** What makes it late. */
const ofTheWay = ['databaseAway', 'clusterAway', 'slowWatch'] as const;
/** What makes it begin again. */
const ofTheProcess = ['stopped', 'killed'] as const;
/** What makes another one of two go on. */
const ofTheLead = ['leaderStopped', 'leaderKilled'] as const;

/** `view`: disturbances of the view alone; `all`: starting late, stops, kills, leaders in turn and lost databases besides. */
export type Scope = 'view' | 'all';

/** Looks at a history late, and is disturbed again and again: seconds, minutes or hours long. All is well again in the tail. */
export function randomObservation(
  history: History,
  seed: number,
  {
    scope,
    editsRules,
    editsWords,
  }: { readonly scope: Scope; readonly editsRules?: boolean | undefined; readonly editsWords?: boolean | undefined },
): Observation {
  const chance = new Random(history.seed, -seed);
  const quietAt = history.endAt - tailMs / 2;
  const lengthMs = (): number =>
    secondMs * chance.pick([chance.whole(45, 90), chance.whole(60, 1_200), chance.whole(1_200, 4 * 3_600)]);
  const isElected = scope === 'all' && chance.chance(0.35);
  const ofAll = [...ofTheView, ...ofTheWay, ...ofTheProcess, ...(isElected ? ofTheLead : ofTheProcess)];
  const kinds = scope === 'all' ? ofAll : ofTheView;
  const startsAt =
    history.startAt + (scope === 'all' && chance.chance(0.3) ? chance.whole(1, 6 * 3_600) * secondMs : 0);
  const disturbances: Disturbance[] = [];
  let hasEmptied = !chance.chance(0.15) || scope !== 'all';
  for (let at = startsAt + gapMs(); at < quietAt; at += gapMs()) {
    const untilAt = at + lengthMs();
    if (untilAt >= quietAt) break;
    const isEmptied: boolean = !hasEmptied && at > history.startAt + (history.endAt - history.startAt) / 3;
    hasEmptied ||= isEmptied;
    disturbances.push({ kind: isEmptied ? 'emptyDatabase' : chance.pick(kinds), at, untilAt });
    at = untilAt;
  }
  return { startsAt, isElected, disturbances: withGapsOfEdits(disturbances) };

  /** Of a history in which monitors ask for more, or owners say other words: the service is away while they begin to, one time in three. */
  function withGapsOfEdits(others: readonly Disturbance[]): Disturbance[] {
    const all = [...others];
    const ofRules = editsRules ? history.monitors.flatMap(({ edits }) => edits) : [];
    const ofWords = editsWords ? history.cronJobs.flatMap(({ edits }) => edits.filter(({ words }) => words)) : [];
    const ofNamespaces = editsWords ? history.namespaces.flatMap(({ words = [] }) => words) : [];
    for (const { at } of [...ofRules, ...ofWords, ...ofNamespaces]) {
      const gap: Disturbance = {
        kind: chance.pick([...ofTheProcess, 'slowWatch', 'databaseAway']),
        at: at - lengthMs(),
        untilAt: at + lengthMs(),
      };
      const isFree = all.every(
        (other) => other.untilAt + 10 * minuteMs < gap.at || other.at - 10 * minuteMs > gap.untilAt,
      );
      if (isFree && gap.at > startsAt + 10 * minuteMs && gap.untilAt < quietAt && chance.chance(0.5)) all.push(gap);
    }
    return all.sort((a, b) => a.at - b.at);
  }

  function gapMs(): number {
    return secondMs * chance.whole(10 * 60, chance.pick([1, 6, 24]) * 3_600) + minuteMs;
  }
}
