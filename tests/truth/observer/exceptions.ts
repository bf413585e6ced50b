import {
  hourMs,
  minuteMs,
  secondMs,
  type CronJobStory,
  type History,
  type MonitorStory,
  type Observation,
} from './history.ts';
import type { Played, Run } from './kubernetes.ts';
import type { Verdict } from './verdicts.ts';

interface Span {
  readonly fromAt: number;
  readonly toAt: number;
}

/** A start needs some time until it has seen everything. */
const startMs = 2 * minuteMs;

/**
 * Which differences between two observers of one history are allowed, read from the history alone: a run that Kubernetes had removed before
 * anyone looked, absence while the service could not see, a monitor made anew more than ten minutes after it was deleted while the service
 * did not look, and what a monitor asked before there was a database, or between two edits of one time without a look: Kubernetes keeps the
 * spec of now alone. With a database goes also since when a monitor judges that was made anew before.
 * It knows nothing of how the service judges.
 */
export class Exceptions {
  readonly #history: History;
  readonly #dark: readonly Span[];
  /** Spans in which the service looks late, or not at all. */
  readonly #late: readonly Span[];
  /** When runs of a CronJob succeeded, by its `namespace/name`. */
  readonly #successes = new Map<string, number[]>();
  /** Spans of a CronJob in which what an observer says may differ. */
  readonly #unsure = new Map<string, Span[]>();

  constructor(history: History, { runs }: Played, observation: Observation) {
    this.#history = history;
    this.#dark = darkSpans(observation);
    const disturbed = observation.disturbances.map(({ at, untilAt }) => ({
      fromAt: at - minuteMs,
      toAt: untilAt + startMs,
    }));
    this.#late = [...this.#dark, ...disturbed];
    const runsOf = Map.groupBy(runs, ({ cronJobUid }) => cronJobUid);
    for (const story of history.cronJobs) this.#read(story, runsOf.get(story.uid) ?? []);
    for (const { uid, namespace, name } of history.groups ?? [])
      this.#unsure.set(`${namespace}/~${name}`, this.#unsureOf(runsOf.get(uid) ?? []));
  }

  /** Whether the history itself explains that one observer says this and another does not. */
  allows(verdict: Verdict): boolean {
    const untilAt = verdict.endedAt ?? this.#history.endAt;
    if (verdict.subject === 'disappeared' && this.#isUnsureWhenGone(verdict)) return true;
    if (verdict.subject === 'disappeared' && this.#isOfForgottenMonitor(verdict)) return true;
    if (verdict.subject === 'neverSucceeded' && this.#mayHaveSucceeded(verdict, untilAt)) return true;
    if (verdict.type === 'jobSuspended' && this.#isResumedBeforeAll(verdict)) return true;
    const isUnsure = (this.#unsure.get(verdict.cronJobUid) ?? []).some(
      ({ fromAt, toAt }) => verdict.openedAt <= toAt && untilAt >= fromAt,
    );
    const isUnknown = this.#isOfUnknownRules(verdict, untilAt) || this.#isOfUnknownWords(verdict, untilAt);
    return isUnsure || isUnknown || this.#isOfMonitorMadeAnew(verdict, untilAt);
  }

  #read(story: CronJobStory, runs: readonly Run[]): void {
    const unsure = this.#unsureOf(runs);
    const name = `${story.namespace}/${story.name}`;
    const succeeded = runs.flatMap(({ outcome, endedAt }) => (outcome === 'success' ? (endedAt ?? []) : []));
    this.#successes.set(name, [...(this.#successes.get(name) ?? []), ...succeeded]);
    const visible = runs.filter((run) => !this.#isUnseen(run));
    for (const { fromAt, toAt } of this.#dark) {
      const edits = story.edits.filter(({ at }) => at >= fromAt && at <= toAt);
      const isRemade = story.deletedAt !== undefined && story.deletedAt >= fromAt && story.deletedAt <= toAt;
      const never = story.runs.some(
        ({ fate, slotAt }) => fate === 'neverStarted' && slotAt >= fromAt && slotAt <= toAt,
      );
      if (edits.length > 1 || isRemade || (never && mayBeCollected(story)))
        unsure.push({ fromAt, toAt: sureAgainAt(visible, { slotAt: toAt }) });
      // Labels of before there was a database are in no object: which monitors selected it then cannot be known.
      const moved = fromAt === -Infinity ? edits.filter(({ tier }) => tier !== undefined) : [];
      unsure.push(...moved.map(({ at }) => ({ fromAt, toAt: at })));
    }
    this.#unsure.set(story.uid, unsure);
  }

  /** From each run that left unseen until two later ones have succeeded. */
  #unsureOf(runs: readonly Run[]): Span[] {
    const visible = runs.filter((run) => !this.#isUnseen(run));
    return runs
      .filter((run) => this.#isUnseen(run))
      .map((run) => ({ fromAt: run.slotAt - secondMs, toAt: sureAgainAt(visible, run) }));
  }

  /**
   * For how long a CronJob was not there is known to who looks all the time: one that is there again when the service looks was away for
   * longer than the grace or not. What went before there was a database, or came and went beside it, was never selected by what was lost.
   */
  #isUnsureWhenGone({ cronJobUid }: Verdict): boolean {
    const lives = this.#history.cronJobs.filter(({ namespace, name }) => `${namespace}/${name}` === cronJobUid);
    return lives.some(({ createdAt, deletedAt }, index) => {
      if (deletedAt === undefined) return false;
      const isBackAt = lives[index + 1]?.createdAt;
      const isUnseen = this.#dark.some(({ fromAt, toAt }) => createdAt >= fromAt && deletedAt <= toAt);
      const late =
        isBackAt === undefined ? [] : this.#late.filter(({ fromAt, toAt }) => fromAt <= isBackAt && toAt >= deletedAt);
      return isUnseen || late.length > 0;
    });
  }

  /**
   * Of what a monitor has seen a CronJob is expected that succeeded since it began to judge it. Where a monitor was made anew before there
   * was a database, nothing says any more when the one before it was made.
   */
  #isOfForgottenMonitor({ monitor, cronJobUid, openedAt }: Verdict): boolean {
    const stories = this.#history.monitors.filter(({ namespace, name }) => `${namespace}/${name}` === monitor);
    const { createdAt } = stories.findLast((story) => story.createdAt <= openedAt) ?? {};
    if (createdAt === undefined || createdAt === stories[0]?.createdAt) return false;
    const isForgotten = this.#dark.some(({ fromAt, toAt }) => fromAt === -Infinity && createdAt <= toAt);
    const successes = this.#successes.get(cronJobUid) ?? [];
    return isForgotten && !successes.some((endedAt) => endedAt >= createdAt && endedAt <= openedAt);
  }

  /**
   * What came due and ended in and shortly after a time without a look is found by the first success that is known. Where Jobs of successes
   * go by themselves an earlier one may have gone unseen, and the same objects are left as if there had been none (unknowable.test.ts): the
   * service says nothing.
   */
  #mayHaveSucceeded({ cronJobUid, openedAt }: Verdict, untilAt: number): boolean {
    const story = this.#history.cronJobs.find(({ uid }) => uid === cronJobUid);
    const isLate = this.#late.some(({ fromAt, toAt }) => openedAt <= toAt && untilAt >= fromAt);
    return isLate && story !== undefined && (story.ttlSeconds !== undefined || story.successLimit < 2);
  }

  /** It was resumed before anything was known of it: no object says that it was suspended once. */
  #isResumedBeforeAll({ cronJobUid }: Verdict): boolean {
    const edits = this.#history.cronJobs.find(({ uid }) => uid === cronJobUid)?.edits ?? [];
    const unknownUntil = Math.max(...this.#dark.filter(({ fromAt }) => fromAt === -Infinity).map(({ toAt }) => toAt));
    return edits.some(({ suspend, at }) => suspend === false && at <= unknownUntil);
  }

  /** It ended and its Job was removed while the service did not look, so that no later look can tell how it ended. */
  #isUnseen({ endedAt, removedAt }: Run): boolean {
    if (removedAt === undefined) return false;
    const lastSeenFrom = endedAt ?? removedAt;
    return this.#dark.some(({ fromAt, toAt }) => lastSeenFrom >= fromAt && removedAt <= toAt);
  }

  #isOfUnknownRules({ monitor, openedAt }: Verdict, untilAt: number): boolean {
    const stories = this.#history.monitors.filter(({ namespace, name }) => `${namespace}/${name}` === monitor);
    const asked = stories.flatMap(({ createdAt, edits }) => [createdAt, ...edits.map(({ at }) => at)]).slice(1);
    return this.#late.some(({ fromAt, toAt }) => {
      const unseen = asked.filter((at) => at >= fromAt && at <= toAt);
      const isUnknown = unseen.length > (fromAt === -Infinity ? 0 : 1);
      return isUnknown && openedAt <= Math.max(...unseen) && untilAt >= fromAt;
    });
  }

  /** What an owner said before there was a database, or between two edits of one time without a look, is in no object. */
  #isOfUnknownWords({ cronJobUid, openedAt }: Verdict, untilAt: number): boolean {
    const story = this.#history.cronJobs.find(({ uid }) => uid === cronJobUid);
    const ofNamespace = this.#history.namespaces.find(({ name }) => name === story?.namespace)?.words ?? [];
    const edits = [...(story?.edits.filter(({ words }) => words) ?? []), ...ofNamespace].map(({ at }) => at);
    return this.#late.some(({ fromAt, toAt }) => {
      const unseen = edits.filter((at) => at >= fromAt && at <= toAt);
      const isUnknown = unseen.length > (fromAt === -Infinity ? 0 : 1);
      return isUnknown && openedAt <= Math.max(...unseen) && untilAt >= fromAt;
    });
  }

  #isOfMonitorMadeAnew({ monitor, openedAt }: Verdict, untilAt: number): boolean {
    const stories = this.#history.monitors.filter(({ namespace, name }) => `${namespace}/${name}` === monitor);
    return stories.some(({ deletedAt }, index) => {
      const next: MonitorStory | undefined = stories[index + 1];
      if (deletedAt === undefined) return false;
      const isUnseen = this.#dark.some(({ fromAt, toAt }) => deletedAt >= fromAt - 11 * minuteMs && deletedAt <= toAt);
      const isAnew = next === undefined || next.createdAt - deletedAt > 10 * minuteMs;
      return isUnseen && isAnew && openedAt <= (next?.createdAt ?? Infinity) && untilAt >= deletedAt - 11 * minuteMs;
    });
  }
}

/** A watch is silent for 90 s until it is opened anew, four times until everything is listed; up to a minute of it may lie before the hold. */
const relistedAfterMs = 290_000;

/** When the service did not look, or lost what it had seen. */
function darkSpans({ startsAt, disturbances }: Observation): Span[] {
  const dark: Span[] = [{ fromAt: -Infinity, toAt: startsAt + startMs }];
  for (const { kind, at, untilAt } of disturbances) {
    if (kind === 'stopped' || kind === 'killed') dark.push({ fromAt: at - secondMs, toAt: untilAt + startMs });
    if (kind === 'emptyDatabase') dark.push({ fromAt: -Infinity, toAt: untilAt + startMs });
    // A watch that brings nothing is opened anew, and then everything is listed: what came and went between two lists was in none.
    if (kind === 'slowWatch' && untilAt - at > relistedAfterMs)
      dark.push({ fromAt: at - minuteMs, toAt: untilAt + startMs });
    if (kind === 'watchExpired') dark.push({ fromAt: at - minuteMs, toAt: at + startMs });
  }
  return dark;
}

/** Whether the traces of a run may have left the cluster by themselves. */
function mayBeCollected({ policy, ttlSeconds, successLimit, failureLimit }: CronJobStory): boolean {
  return policy === 'Replace' || ttlSeconds !== undefined || successLimit < 3 || failureLimit < 3;
}

/** Two runs later everything counts from what all observers saw. */
function sureAgainAt(visible: readonly Run[], after: { readonly slotAt: number }): number {
  const successes = visible.filter(({ slotAt, outcome }) => slotAt > after.slotAt && outcome === 'success');
  return (successes[1]?.endedAt ?? Infinity) + hourMs;
}
