import { secondMs, type GroupStory } from './history.ts';
import { jobAt, podAt, podNameOf, type JobMaker } from './job-objects.ts';
import type { Change, Played, Run } from './kubernetes.ts';

/** Jobs that no CronJob makes, as a deployment's hooks are: each with its pod, and gone when its time after the end is over. */
export function playGroup({ uid, namespace, name, ttlSeconds, runs: stories }: GroupStory, endAt: number): Played {
  const changes: Change[] = [];
  const runs: Run[] = [];
  const maker: JobMaker = { namespace, labels: { hook: 'yes' }, ttlSeconds, cronJob: undefined, tellsRows: false };
  for (const [index, story] of stories.entries()) {
    const createdAt = story.slotAt;
    const overAt = createdAt + story.seconds * secondMs;
    const isDeleted = story.fate === 'deleted';
    const removedAt = isDeleted ? overAt : ttlSeconds === undefined ? Infinity : overAt + ttlSeconds * secondMs;
    const begun: Run = {
      cronJobUid: uid,
      jobUid: `${uid.slice(0, 24)}${index.toString(16).padStart(12, '0')}`,
      jobName: `${name}-${index + 1}`,
      slotAt: createdAt,
      createdAt,
      decidedAt: undefined,
      endedAt: undefined,
      outcome: undefined,
      removedAt: removedAt > endAt ? undefined : removedAt,
    };
    const ended: Run = { ...begun, endedAt: overAt, outcome: story.fate === 'success' ? 'success' : 'failed' };
    runs.push(isDeleted || overAt > endAt ? begun : ended);
    const write = (at: number, run: Run): void => {
      const played = { run, story };
      changes.push({
        at,
        apply: (world) => {
          world.put('Job', jobAt(at, played, maker));
          world.put('Pod', podAt(at, played, maker));
        },
      });
    };
    write(createdAt, begun);
    if (!isDeleted) write(overAt, ended);
    const apply: Change['apply'] = (world) => {
      world.remove('Pod', namespace, podNameOf(begun));
      world.remove('Job', namespace, begun.jobName);
    };
    if (removedAt !== Infinity) changes.push({ at: removedAt, apply });
  }
  return { changes: changes.filter(({ at }) => at <= endAt), runs };
}
