import type { Health } from '@cronjob-monitor/shared/contract';
import { spelledOut } from './duration.ts';
import { clockText, dayText, relativeText } from './time.ts';
import type { Viewer } from './viewer.ts';

/** Whether runs are judged at all: a leader without this scheduler records, and raises no alert. */
export function isJudging(health: Health): boolean {
  return health.schedulersRunning.includes('dead-man-switch');
}

/** The last evaluation: `Evaluated 12 s ago`; what stands in its place while nothing is judged. */
export function evaluatedText(health: Health, { nowMs }: Viewer): string {
  if (health.lastEvaluation !== null) return `Evaluated ${relativeText(health.lastEvaluation, nowMs)}`;
  if (!health.leader) return 'No controller evaluates';
  return isJudging(health) ? 'Not evaluated yet' : 'Recorded, not judged';
}

/** What the banner of an unwell service says on every page: the worst first, then the service's own sentences. */
interface HealthNotice {
  readonly tone: 'warn' | 'crit';
  readonly headline: string;
  readonly problems: readonly string[];
  /** The page shows what was stored before, and nothing newer. */
  readonly isOfBefore: boolean;
}

/** Undefined: all is well. */
export function healthNotice(health: Health, viewer: Viewer): HealthNotice | undefined {
  if (health.status === 'healthy') return undefined;
  // A database that cannot be asked shows nothing, and a service that does its work shows what is.
  const isOfBefore = !health.ready && (health.storage === 'connected' || health.storage === 'unwritable');
  const [first = 'The service is not well', ...others] = health.problems.map((problem) => asSentence(problem, viewer));
  if (health.status === 'unhealthy') return { tone: 'crit', headline: first, problems: others, isOfBefore };
  // What keeps a leader from its work comes first in the list.
  if (health.leader) {
    return { tone: health.ready ? 'warn' : 'crit', headline: first, problems: others, isOfBefore };
  }
  const since = health.lastEvaluation === null ? '' : ` since ${sinceText(health.lastEvaluation, viewer)}`;
  // Why comes before what follows from it.
  return { tone: 'crit', headline: first, problems: [`Nothing was evaluated${since}`, ...others], isOfBefore };
}

/** The service tells its problems without a stop, in the middle of a line, with instants in UTC and durations as it is configured with them. */
function asSentence(problem: string, viewer: Viewer): string {
  const told = localised(spelledOut(problem), viewer);
  return told.charAt(0).toUpperCase() + told.slice(1).replace(/\.$/, '');
}

function localised(sentence: string, viewer: Viewer): string {
  return sentence.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (at) => sinceText(at, viewer));
}

function sinceText(at: string, { nowMs, timeZone }: Viewer): string {
  const day = dayText(at, timeZone);
  const clock = clockText(at, timeZone).slice(0, 5);
  return day === dayText(nowMs, timeZone) ? clock : `${day} ${clock}`;
}
