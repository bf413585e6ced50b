import { healthStates, type Cluster } from '@cronjob-monitor/shared/contract';
import type { Mark } from '../kit/icon/shapes.ts';
import { plural } from './figures.ts';
import { stateMarks } from './marks.ts';
import { ageText, relativeText, shortTimeText } from './time.ts';
import { statesText, wrongStates } from './verdict.ts';
import type { Viewer } from './viewer.ts';

/** The worst that is known of a cluster. What cannot be read is not known, whatever was counted. */
export function clusterMark({ problem, states }: Cluster): Mark {
  if (problem !== null) return { ...stateMarks.unknown, word: 'Cannot be read' };
  const worst = healthStates.find((state) => states[state] > 0);
  return worst ? stateMarks[worst] : { word: 'No CronJob', shape: 'dash', tone: 'off' };
}

/** What a menu says of a cluster: `2 critical, 1 failing; seen 12 s ago`. */
export function clusterNote(cluster: Cluster, viewer: Viewer): string {
  if (cluster.problem !== null) return problemText(cluster);
  return `${countsText(cluster)}; ${seenText(cluster, viewer)}`;
}

export function countsText({ states }: Pick<Cluster, 'states'>): string {
  const total = healthStates.reduce((sum, state) => sum + states[state], 0);
  return statesText(states, wrongStates) || (total === 0 ? 'No CronJob' : `${plural(total, 'CronJob')}, nothing wrong`);
}

/** The last sign of life of its controller. */
export function seenText({ live, lastSeenAt }: Cluster, viewer: Viewer): string {
  if (lastSeenAt === null) return 'its controller was never seen';
  return live ? `seen ${relativeText(lastSeenAt, viewer.nowMs)}` : `silent since ${instantText(lastSeenAt, viewer)}`;
}

/** What stands on every page of a cluster of which nothing new is heard; undefined: all that is shown is of now. */
export function silentText(cluster: Cluster, viewer: Viewer): string | undefined {
  const { name, live, lastSeenAt, problem } = cluster;
  if (problem !== null) return problemText(cluster);
  if (live) return undefined;
  if (lastSeenAt === null) return `The controller of ${name} was never seen: nothing is known of this cluster.`;
  const ago = ageText(lastSeenAt, viewer.nowMs);
  return `The controller of ${name} was last seen ${instantText(lastSeenAt, viewer)}, ${ago} ago; what is shown is of then.`;
}

function problemText({ name, problem }: Cluster): string {
  return `${name} cannot be read: ${(problem ?? '').replace(/\.$/, '')}.`;
}

function instantText(at: string, { nowMs, timeZone }: Viewer): string {
  return `${shortTimeText(at, timeZone, nowMs)} ${timeZone}`;
}
