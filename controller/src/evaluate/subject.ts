import type { OwnerWord } from '@cronjob-monitor/shared/contract';
import {
  withEarlierWords,
  type EarlierMute,
  type EarlierWindows,
  type AlertRules,
  type CronJobFacts,
  type DetectionRules,
  type EarlierWords,
  type Execution,
  type Instant,
  type JudgingWords,
  type MessageHold,
  type Part,
} from '@cronjob-monitor/shared/domain';
import {
  listJudgedCronJobs,
  listLiveAlerts,
  type AlertRecord,
  type JudgedCronJob,
  type JudgingMonitor,
  type Tx,
} from '@cronjob-monitor/shared/store';

/** What one monitor asks about one CronJob, and what it wants done with the answers. */
export interface MonitorRules {
  readonly detection: DetectionRules;
  readonly alerts: AlertRules;
  /** Of a group of Jobs: for how long after its last Job has ended it is told of. */
  readonly forgetAfterMs?: number | undefined;
  /** What its messages tell of a run; undefined: everything. */
  readonly includeContext:
    | {
        readonly suggestedFixes: boolean;
        readonly logs: boolean;
        readonly events: boolean;
        readonly podStatus: boolean;
      }
    | undefined;
}

/** A monitor that selects a CronJob and can be read. */
export interface Watcher {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly rules: MonitorRules;
  /** Something in its spec cannot be read: what that switches off was not meant. */
  readonly isMisread?: boolean | undefined;
  /** Of its spec, and when that was written last, by the cluster. */
  readonly generation?: number | undefined;
  readonly specWrittenAt?: Instant | undefined;
  /** What it would ask by another spec, as a row keeps it, and by what its owners said then; undefined: this release does not understand that. */
  readonly rulesUnder?: ((asked: Asked) => MonitorRules | undefined) | undefined;
}

/** What is asked otherwise than now; undefined: as it is now. */
export interface Asked {
  readonly spec?: unknown;
  readonly words?: JudgingWords | undefined;
}

/** A monitor of a CronJob as its row knows it, and as it is in the cluster. */
export interface KnownWatcher {
  readonly known: JudgingMonitor;
  readonly watcher: Watcher;
  /** What its owners said before about how it is judged, oldest first. */
  readonly earlierWords: readonly EarlierWords[];
}

/** What a monitor asked about a CronJob until it, or what owners say, was changed: what happened before then is judged by it. */
export interface EarlierRules {
  readonly rules: MonitorRules;
  readonly untilAt: Instant;
  /** What it asked before that; undefined: the same. */
  readonly earlier?: EarlierRules | undefined;
}

/** What a monitor asked before, where it is not what it asks now. */
export interface AskedBefore {
  readonly rules: EarlierRules | undefined;
  readonly windows: readonly EarlierWindows[] | undefined;
  /** It told its channels of nothing until then; undefined: it tells them of nothing now, or always did. */
  readonly silentUntilAt: Instant | undefined;
}

/** One monitor's view of one CronJob. */
export interface Watch {
  readonly monitor: { readonly id: number; readonly uid: string; readonly namespace: string; readonly name: string };
  readonly rules: MonitorRules;
  /** Something in the spec of the monitor cannot be read: what that switches off was not meant. */
  readonly isMisread?: boolean | undefined;
  /** What ended before opens nothing. */
  readonly judgesFromAt: Instant;
  /** False: none of its runs was ever judged for this monitor. */
  readonly wasJudged: boolean;
  /** Its monitor was away since then: what ended later is news to it. */
  readonly newsFromAt?: Instant | undefined;
  /** The monitor selected the CronJob until then, and judges no run that ended later. Absent: it still selects it. */
  readonly judgesUntilAt?: Instant | undefined;
  /** What it asked before, where that may decide about news; undefined: the same. */
  readonly earlier?: EarlierRules | undefined;
  /** As `AskedBefore` has it. */
  readonly silentUntilAt?: Instant | undefined;
}

/** One CronJob whose verdicts are asked. */
export interface Subject {
  readonly row: JudgedCronJob;
  /** Undefined: it is not in the cluster any more. */
  readonly facts: CronJobFacts | undefined;
  readonly zone: string;
  readonly watches: readonly Watch[];
  readonly alerts: readonly AlertRecord[];
  /** Of a group of Jobs: when the last of them ended; undefined while one goes on, and of a CronJob. */
  readonly groupEndedAt: Instant | undefined;
}

/** Why CronJobs are judged now. */
export interface Occasion {
  /** What is asked; what is open about a CronJob is asked besides when a run ended. */
  readonly parts: ReadonlySet<Part>;
  /** Runs that got their row in this transaction, by CronJob. */
  readonly recorded?: ReadonlyMap<number, readonly Execution[]> | undefined;
  /** They are gone, and are judged as they were then; absent: now. */
  readonly asOfAt?: Instant | undefined;
  readonly stormHold?: MessageHold | undefined;
  /** Holds back every message of the first pass over an empty database. */
  readonly firstHold?: MessageHold | undefined;
  /** CronJobs that are asked only when one of their slots was not started in time. */
  readonly slotsOnly?: ReadonlySet<number> | undefined;
}

/** What this replica sees of the cluster, as far as verdicts ask. */
export interface SubjectSources {
  readonly findCronJob: (uid: string) => CronJobFacts | undefined;
  /** They are asked about as they were when they went. Of those that are gone monitors may have written already that they select them no more. */
  readonly wentOf?: (cronJobUid: string) => Pick<Watch, 'newsFromAt' | 'judgesUntilAt'>;
  readonly watchersOf: (cronJob: CronJobFacts) => readonly Watcher[];
  readonly defaultZone: string;
  /** What it and its Namespace said before about how its runs are judged, beside what its row says, oldest first. */
  readonly wordsBeside: (cronJob: CronJobFacts, row: JudgedCronJob) => readonly EarlierWords[];
  /** What these monitors asked before, of what happened after an instant. */
  readonly earlierSpecs: {
    gather(
      tx: Tx,
      watchers: readonly KnownWatcher[],
      settledThroughAt: Instant,
    ): Promise<(of: KnownWatcher) => AskedBefore>;
  };
  /** Of a group of Jobs: when the last of them ended; undefined while one goes on. */
  readonly groupEndedAt: (uid: string) => Instant | undefined;
}

/** The CronJobs with who watches them and what is open about them. What happened before `settledThroughAt` was judged. */
export async function gatherSubjects(
  tx: Tx,
  ids: readonly number[],
  from: SubjectSources,
  settledThroughAt: Instant,
): Promise<Subject[]> {
  const rows = await listJudgedCronJobs(tx, ids);
  const isAsked = ({ deletedAt }: JudgedCronJob): boolean => deletedAt === undefined || from.wentOf !== undefined;
  const found = new Map(rows.map((row) => [row, isAsked(row) ? from.findCronJob(row.uid) : undefined]));
  const watchers = new Map(
    [...found].map(([row, facts]) => {
      if (facts === undefined) return [row, []];
      const earlierWords = withEarlierWords(row.said.earlier, from.wordsBeside(facts, row));
      return [row, selecting(from.watchersOf(facts), row, earlierWords, from.wentOf?.(row.uid))];
    }),
  );
  const earlierOf = await from.earlierSpecs.gather(tx, [...watchers.values()].flat(), settledThroughAt);
  const alerts = Map.groupBy(await listLiveAlerts(tx, ids), ({ cronJobId }) => cronJobId);
  return rows.map((row) => {
    const facts = found.get(row);
    const zone = facts?.timeZone ?? from.defaultZone;
    return {
      row,
      facts,
      zone,
      watches: (watchers.get(row) ?? []).map((of) => ({ ...toWatch(of, earlierOf(of)), ...from.wentOf?.(row.uid) })),
      alerts: alerts.get(row.id) ?? [],
      groupEndedAt: facts?.marks && from.groupEndedAt(row.uid),
    };
  });
}

/** Whether what ended then is news to a monitor whatever was judged of it: it never judged the CronJob, or was away. */
export function isNewsTo({ wasJudged, newsFromAt = Infinity }: Watch, endedAt: Instant): boolean {
  return !wasJudged || endedAt >= newsFromAt;
}

/** When a monitor lets go of what it told of a group of Jobs; undefined: of a CronJob, and while a Job goes on. */
export function forgetAt({ groupEndedAt }: Subject, { rules }: Pick<Watch, 'rules'>): Instant | undefined {
  return groupEndedAt === undefined || rules.forgetAfterMs === undefined
    ? undefined
    : groupEndedAt + rules.forgetAfterMs;
}

/** A monitor that has no row for it yet judges it as soon as it has. */
function selecting(
  watchers: readonly Watcher[],
  row: JudgedCronJob,
  earlierWords: readonly EarlierWords[],
  went: Pick<Watch, 'judgesUntilAt'> | undefined,
): KnownWatcher[] {
  const isGone = went !== undefined && went.judgesUntilAt === undefined;
  return watchers.flatMap((watcher) => {
    const known = row.monitors.find((candidate) => isSame(candidate, watcher));
    return known && (known.selects || isGone) ? [{ known, watcher, earlierWords }] : [];
  });
}

function toWatch(of: KnownWatcher, { rules: earlier, windows: earlierWindows, silentUntilAt }: AskedBefore): Watch {
  const { known, watcher } = of;
  const { id, judgesFromAt, wasJudged, newsFromAt } = known;
  const { namespace, name, isMisread } = watcher;
  const earlierMutes = earlierMutesOf(of);
  const rules =
    earlierMutes || earlierWindows
      ? { ...watcher.rules, alerts: { ...watcher.rules.alerts, earlierMutes, earlierWindows } }
      : watcher.rules;
  return {
    monitor: { id, uid: known.id16, namespace, name },
    rules,
    isMisread,
    judgesFromAt,
    wasJudged,
    newsFromAt,
    earlier,
    silentUntilAt,
  };
}

/** What the owners said before of how long it is muted; undefined: never anything. */
function earlierMutesOf({ watcher, earlierWords }: KnownWatcher): readonly EarlierMute[] | undefined {
  const isMuted = earlierWords.some(
    ({ words: { cronJob, ofNamespace } }) => cronJob[muteWord] ?? ofNamespace[muteWord],
  );
  if (!isMuted && watcher.rules.alerts.mutedUntilAt === undefined) return undefined;
  const mutes = earlierWords.flatMap(({ untilAt: saidUntilAt, words }): EarlierMute[] => {
    const rules = watcher.rulesUnder?.({ words });
    return rules ? [{ saidUntilAt, mutedUntilAt: rules.alerts.mutedUntilAt }] : [];
  });
  return mutes.length > 0 ? mutes : undefined;
}

const muteWord = 'mute-until' satisfies OwnerWord;

/** The row that is not deleted is the present object of its name. */
function isSame(known: JudgingMonitor, watcher: Pick<Watcher, 'namespace' | 'name'>): boolean {
  return !known.isDeleted && known.namespace === watcher.namespace && known.name === watcher.name;
}
