import {
  type CronJobFacts,
  type EarlierWords,
  type Instant,
  instantOfChange,
  judgingWordsOf,
  refText,
  specSince,
} from '@cronjob-monitor/shared/domain';
import type { Clock } from '@cronjob-monitor/shared/process';
import {
  type CronJobMarks,
  type CronJobSeen,
  forgetCronJob,
  listCronJobMarks,
  projectCronJobs,
  type Store,
  updateDeclared,
} from '@cronjob-monitor/shared/store';
import type { ScheduleProblem } from '@cronjob-monitor/shared/contract';
import { parse, ScheduleError } from '@cronjob-monitor/shared/domain/schedule';
import type { ComeBack } from '../../runtime/index.ts';
import type { DepartedCronJob, Selection } from '../../selection/index.ts';
import type { SpecSighting, SpecSightings, WordSightings } from './unwritten-edits.ts';

interface CronJobReconcilerDeps {
  readonly cronJobs: { find(uid: string): CronJobFacts | undefined };
  readonly isMonitored: (cronJobUid: string) => boolean;
  /** Whether its owner has it left out. Its annotations stay in force when it is gone. */
  readonly isIgnored?: ((cronJob: CronJobFacts) => boolean) | undefined;
  /** CronJobs of its name that were deleted lately, itself among them. */
  readonly departuresOf?: Selection['departuresOf'] | undefined;
  /** Departures from monitors that have yet to judge the CronJob. */
  readonly leavesOf?: Selection['leavesOf'] | undefined;
  /** Judges CronJobs that went unwritten as they were then. Answers with those whose runs have to be recorded first. */
  readonly judgeDeparted?:
    | ((departures: readonly DepartedCronJob[]) => Promise<readonly DepartedCronJob[]>)
    | undefined;
  readonly records: CronJobRecords;
  /** Edits that were received and are not written yet. */
  readonly sightings?: Pick<SpecSightings, 'listOf' | 'written'> | undefined;
  /** Earlier annotations that decide how runs are judged. Absent: none were seen. */
  readonly words?: Pick<WordSightings, 'listOf' | 'listSince'> | undefined;
  readonly clock: Clock;
  readonly outlookOf: (cronJob: CronJobFacts, now: Instant) => Outlook;
  /** The CronJobs that it waits for, as `namespace/name`. Absent: none has any. */
  readonly dependsOn?: ((cronJob: CronJobFacts) => readonly string[]) | undefined;
  /** The annotations of its Namespace, and its owner. */
  readonly saidOf?: ((cronJob: CronJobFacts) => Pick<CronJobSeen, 'ofNamespace' | 'owner'>) | undefined;
  /** A leader before this one watched until then; undefined: there was none. */
  readonly watchedUntilAt: Instant | undefined;
  /** The CronJob has its row now: its Jobs can be recorded. */
  readonly onFirstProjected: (cronJobUids: readonly string[]) => void;
  /** Told of CronJobs whose due runs, or the rules that judge them, have changed. */
  readonly onRespecified: (cronJobUids: readonly string[]) => void;
}

/** Brings rows and epochs of these CronJobs in line with the cluster. A second call changes nothing. */
export async function reconcileCronJobs(
  uids: readonly string[],
  deps: CronJobReconcilerDeps,
): Promise<ReadonlyMap<string, ComeBack>> {
  const now = deps.clock.now();
  const first: string[] = [];
  const respecified: string[] = [];
  const write = async (seen: readonly CronJobSeen[], gone: readonly GoneCronJob[]): Promise<void> => {
    const written = await deps.records.write({ seen, gone });
    first.push(...written.first);
    respecified.push(...written.respecified, ...gone.map(({ uid }) => uid));
  };

  // Deleted CronJobs first: the next one of a name takes the place of the row.
  const went = [...new Set(uids.flatMap((uid) => deps.departuresOf?.(uid) ?? []))];
  const left = await deps.records.readMarks(went.map(({ cronJob }) => cronJob.uid));
  // Another leader has judged those whose row says that they are deleted.
  const written = went.filter((one) => !one.isWritten && left.get(one.cronJob.uid)?.deletedAt !== undefined);
  for (const one of written) one.isJudged = one.isWritten = true;
  const departures = went.filter((one) => !one.isWritten);
  await writeSeen(departures.map(({ cronJob, at }) => [cronJob, Math.min(now, at)]));
  const leavesOf = (some: readonly CronJobFacts[]): DepartedCronJob[] =>
    some.flatMap(({ uid }) => [...(deps.leavesOf?.(uid) ?? [])]);
  const waiting = new Set<string>();
  const judge = async (some: readonly DepartedCronJob[]): Promise<void> => {
    const held = some.length > 0 ? ((await deps.judgeDeparted?.(some)) ?? []) : [];
    for (const { cronJob } of held) waiting.add(cronJob.uid).add(refText(cronJob));
  };
  const unseen = uids.filter((uid) => !deps.cronJobs.find(uid) && !went.some(({ cronJob }) => cronJob.uid === uid));
  const gone: GoneCronJob[] = unseen.map((uid) => ({ uid, at: now, fromAt: deps.watchedUntilAt }));
  // A failure that is heard of late has those judged again that are written.
  const again = went.filter((one) => one.isWritten && !one.isJudged);
  await judge([...leavesOf(departures.map(({ cronJob }) => cronJob)), ...departures, ...again]);
  respecified.push(...again.map(({ cronJob }) => cronJob.uid));
  const judged = departures.filter(({ cronJob }) => !waiting.has(cronJob.uid));
  for (const { cronJob, at } of judged) gone.push({ uid: cronJob.uid, at: Math.min(now, at), fromAt: undefined });
  await write([], gone);
  for (const one of judged) one.isWritten = true;

  const present = uids.flatMap((uid) => deps.cronJobs.find(uid) ?? []).filter((one) => !waiting.has(refText(one)));
  const leftOut = present.filter((cronJob) => deps.isIgnored?.(cronJob) === true);
  await deps.records.noteLeftOut(leftOut.map((facts) => ({ facts, ...deps.saidOf?.(facts) })));
  const seen = await writeSeen(present.map((cronJob) => [cronJob, now]));
  await judge(leavesOf(present));
  if (first.length > 0) deps.onFirstProjected(first);
  if (respecified.length > 0) deps.onRespecified([...new Set(respecified)]);

  // Lists show the next run and sort by it, so it moves on when its instant has passed, also without an event.
  return new Map(
    uids.map((uid) => {
      const cronJob = deps.cronJobs.find(uid);
      const isHeld = waiting.has(cronJob ? refText(cronJob) : uid);
      return [uid, isHeld ? now + departedAgainMs : seen.find(({ facts }) => facts.uid === uid)?.nextRunAt];
    }),
  );

  /** Writes each CronJob as it was at its instant, after all its earlier edits. */
  async function writeSeen(all: readonly (readonly [CronJobFacts, Instant])[]): Promise<CronJobSeen[]> {
    const monitored = all.filter(([{ uid }]) => deps.isMonitored(uid));
    // Edits that arrive during this write wait for the next turn.
    const sightings = new Map(monitored.map(([{ uid }]) => [uid, deps.sightings?.listOf(uid) ?? []]));
    const marks = await deps.records.readMarks(monitored.map(([{ uid }]) => uid));
    const edits = monitored.map(([{ uid }]) =>
      toEdits(sightings.get(uid) ?? [], marks.get(uid), (facts, at) => toSeen(facts, marks.get(uid), at, deps)),
    );
    const rounds = Math.max(0, ...edits.map((list) => list.length));
    for (let round = 0; round < rounds; round++) {
      // In order of time: runs that are due between two edits follow the first edit.
      const ofRound = edits.flatMap((list) => list[round] ?? []);
      await write(ofRound, []);
    }
    const written = monitored.map(([cronJob, at]) => toSeen(cronJob, marks.get(cronJob.uid), at, deps));
    await write(written, []);
    for (const [uid, list] of sightings) {
      const last = list.at(-1);
      if (last) deps.sightings?.written(uid, last);
    }
    return written;
  }
}

/** A departed CronJob whose runs have to be recorded first is looked at again after this time. */
const departedAgainMs = 1_000;

function toSeen(
  cronJob: CronJobFacts,
  marks: CronJobMarks | undefined,
  now: Instant,
  deps: CronJobReconcilerDeps,
): CronJobSeen {
  const { problem, nextRunAt } = deps.outlookOf(cronJob, now);
  const change = marks?.openEpoch
    ? instantOfChange({ ...marks.openEpoch, generation: marks.generation }, cronJob, {
        now,
        unwatchedSinceAt: lastSightOf(marks, deps),
      })
    : { changedAt: specSince(cronJob), uncertainFromAt: undefined };
  return {
    facts: cronJob,
    ...deps.saidOf?.(cronJob),
    seenAt: now,
    changedAt: change?.changedAt,
    uncertainFrom: change?.uncertainFromAt,
    problem,
    nextRunAt,
    dependsOn: deps.dependsOn?.(cronJob),
    earlierWords: earlierWordsOf(cronJob, marks, now, deps),
  };
}

/** Earlier annotations of it and its Namespace, as this process saw them, or as the row of an earlier process shows them. */
function earlierWordsOf(
  { uid }: CronJobFacts,
  marks: CronJobMarks | undefined,
  now: Instant,
  deps: CronJobReconcilerDeps,
): readonly EarlierWords[] {
  // Of what is there now, also with an edit before that: nothing is lost between two writes.
  const cronJob = deps.cronJobs.find(uid);
  return marks === undefined || cronJob === undefined
    ? (deps.words?.listOf(uid) ?? [])
    : (deps.words?.listSince(cronJob, { ...marks.said, seenAt: lastSightOf(marks, deps) }, now) ?? []);
}

/** The row is written when it changes; while a leader lived it would have been. */
function lastSightOf(marks: CronJobMarks, deps: CronJobReconcilerDeps): Instant {
  return Math.max(marks.seenAt ?? marks.firstSeenAt, deps.watchedUntilAt ?? 0);
}

/** The edits of one CronJob to write before its present state, each with the instant at which it was made. */
export function toEdits(
  sightings: readonly SpecSighting[],
  marks: CronJobMarks | undefined,
  toSeen: (cronJob: CronJobFacts, at: Instant) => CronJobSeen,
): CronJobSeen[] {
  // Edits that an earlier leader has written are left out.
  const openedAt = marks?.openEpoch?.fromAt ?? -Infinity;
  const fresh = sightings.filter(({ at }) => at > openedAt);
  const [first] = fresh;
  if (!first) return [];
  // The state before the first edit may never have been written.
  return [toSeen(first.before, first.at - 1), ...fresh.map(ofSighting)];

  function ofSighting({ before, facts, at, unwatchedSinceAt }: SpecSighting): CronJobSeen {
    const change = instantOfChange({ ...before, fromAt: openedAt }, facts, { now: at, unwatchedSinceAt });
    return { ...toSeen(facts, at), changedAt: change?.changedAt, uncertainFrom: change?.uncertainFromAt };
  }
}

/** The reads and writes of the CronJob reconciler. */
interface CronJobRecords {
  /** The rows that earlier processes left of CronJobs that this one has not written: only there a gap lies before now. */
  readMarks(uids: readonly string[]): Promise<ReadonlyMap<string, CronJobMarks>>;
  /** Notes the annotations of CronJobs that their owners have left out. */
  noteLeftOut(leftOut: readonly Pick<CronJobSeen, 'facts' | 'ofNamespace'>[]): Promise<void>;
  /**
   * Rows and epochs of those seen that differ from what was written last, and the end of those gone. Answers with the UIDs of those written
   * first by this process, and of those of which something else says which runs are due, or how they are judged.
   */
  write(change: {
    seen: readonly CronJobSeen[];
    gone: readonly GoneCronJob[];
  }): Promise<{ first: string[]; respecified: string[] }>;
}

interface GoneCronJob {
  readonly uid: string;
  /** The instant of its deletion, or else the instant at which its absence was found. */
  readonly at: Instant;
  /** No watch saw its deletion: it may have been deleted at any time since. */
  readonly fromAt: Instant | undefined;
}

export function createCronJobRecords(store: Store, epoch: number): CronJobRecords {
  /** The last written row of each, as text: most events of a CronJob only tell that its Jobs come and go. */
  const written = new Map<string, string>();
  const specs = new Map<string, string>();
  const noted = new Map<string, string>();

  return {
    async noteLeftOut(leftOut) {
      const wordsOf = ({ facts, ofNamespace }: (typeof leftOut)[number]): string =>
        JSON.stringify([facts.annotations, ofNamespace]);
      const changed = leftOut.filter((one) => noted.get(one.facts.uid) !== wordsOf(one));
      if (changed.length === 0) return;
      await store.fenced(epoch, (tx) => updateDeclared(tx, changed));
      for (const one of changed) noted.set(one.facts.uid, wordsOf(one));
    },

    async readMarks(uids) {
      const unwritten = uids.filter((uid) => !written.has(uid));
      return unwritten.length === 0 ? new Map() : listCronJobMarks(store, unwritten);
    },

    async write({ seen, gone }) {
      const changed = seen.filter((item) => written.get(item.facts.uid) !== textOf(item));
      // The store ignores the deletion of a CronJob that it never knew.
      if (changed.length === 0 && gone.length === 0) return { first: [], respecified: [] };
      await store.fenced(epoch, async (tx) => {
        if (changed.length > 0) await projectCronJobs(tx, changed);
        for (const { uid, at, fromAt } of gone) await forgetCronJob(tx, uid, at, fromAt);
      });
      const first = changed.filter((item) => !written.has(item.facts.uid)).map((item) => item.facts.uid);
      const respecified: string[] = [];
      for (const item of changed) {
        const { uid } = item.facts;
        const spec = specOf(item);
        if (written.has(uid) && specs.get(uid) !== spec) respecified.push(uid);
        written.set(uid, textOf(item));
        specs.set(uid, spec);
      }
      for (const { uid } of [...gone, ...seen.map(({ facts }) => facts)]) noted.delete(uid);
      for (const { uid } of gone) {
        written.delete(uid);
        specs.delete(uid);
      }
      return { first, respecified };
    },
  };
}

/** The fields that decide which runs are due and which rules judge ended runs. */
function specOf({ facts, ofNamespace }: CronJobSeen): string {
  const { schedule, timeZone, suspended, policy, deadlineS } = facts;
  return JSON.stringify([schedule, timeZone, suspended, policy, deadlineS, judgingWordsOf(facts, ofNamespace)]);
}

/** All that the row holds, and nothing else. */
function textOf({ facts, ofNamespace, owner, problem, nextRunAt, dependsOn, earlierWords }: CronJobSeen): string {
  return JSON.stringify([
    facts.annotations,
    ofNamespace,
    owner,
    facts.labels,
    facts.marks,
    facts.createdAt,
    facts.notes,
    facts.schedule,
    facts.timeZone,
    facts.suspended,
    facts.policy,
    facts.deadlineS,
    facts.generation,
    facts.lastScheduleAt,
    facts.lastSuccessAt,
    facts.lastWriter,
    facts.templateHash,
    problem,
    nextRunAt,
    dependsOn,
    earlierWords?.at(-1)?.untilAt,
  ]);
}

/** The next run of a CronJob, or why none can be told. */
export interface Outlook {
  readonly problem: ScheduleProblem | undefined;
  /** Undefined while suspended, being deleted, or with a problem, and of a group of Jobs. */
  readonly nextRunAt: Instant | undefined;
}

/** Applies the rules of the CronJob controller: a schedule that it does not understand starts nothing. */
export function outlookOf(cronJob: CronJobFacts, defaultZone: string, now: Instant): Outlook {
  if (cronJob.marks) return { problem: undefined, nextRunAt: undefined };
  try {
    const schedule = parse(cronJob.schedule);
    const zone = cronJob.timeZone ?? defaultZone;
    const anchorAt = Math.max(cronJob.lastScheduleAt ?? 0, cronJob.createdAt);
    if (schedule.kind === 'every' && cronJob.deadlineS !== undefined) {
      const periodMs = (schedule.next(anchorAt, zone) ?? Infinity) - anchorAt;
      // After each gap the controller looks back no further than the deadline, and so never reaches the next interval.
      if (cronJob.deadlineS * 1000 < periodMs - 1000) return { problem: 'neverRuns', nextRunAt: undefined };
    }
    const nextRunAt =
      schedule.kind === 'every' ? nextInterval(schedule, anchorAt, zone, now) : schedule.next(now, zone);
    if (nextRunAt === null) return { problem: 'neverRuns', nextRunAt: undefined };
    const rests = cronJob.suspended || cronJob.deletingAt !== undefined;
    return { problem: undefined, nextRunAt: rests ? undefined : nextRunAt };
  } catch (error) {
    if (!(error instanceof ScheduleError)) throw error;
    return { problem: error.code === 'zone' ? 'unknownZone' : 'unparsable', nextRunAt: undefined };
  }
}

/** Without a next run only the end of the searched years can change the answer. */
const restAgainMs = 3_600_000;

/**
 * Tells outlooks to those who ask again and again: a schedule is searched anew only when the CronJob has changed, or its next run has
 * passed.
 */
export function createOutlooks(defaultZone: string): (cronJob: CronJobFacts, now: Instant) => Outlook {
  const known = new WeakMap<CronJobFacts, { outlook: Outlook; from: Instant; until: Instant }>();
  return (cronJob, now) => {
    const last = known.get(cronJob);
    if (last && now >= last.from && now < last.until) return last.outlook;
    const outlook = outlookOf(cronJob, defaultZone, now);
    known.set(cronJob, { outlook, from: now, until: outlook.nextRunAt ?? now + restAgainMs });
    return outlook;
  };
}

/** Intervals count from the last start, or from the creation. */
function nextInterval(
  schedule: ReturnType<typeof parse>,
  anchorAt: Instant,
  zone: string,
  now: Instant,
): Instant | null {
  const first = schedule.next(anchorAt, zone);
  if (first === null || first > now) return first;
  const periodMs = first - Math.floor(anchorAt / 1000) * 1000;
  return first + (Math.floor((now - first) / periodMs) + 1) * periodMs;
}
