import type { Trial } from './trial.ts';

/**
 * A trial that fails as well and has less in it: delta debugging over CronJobs, monitors, disturbances, edits and runs, halves first, then
 * one by one. `mostRuns` and `mostMs` bound the search.
 */
export async function shrink(
  trial: Trial,
  fails: (trial: Trial) => Promise<boolean>,
  { mostRuns = 120, mostMs = Infinity } = {},
): Promise<Trial> {
  let smallest = trial;
  let runs = 0;
  const endAt = Date.now() + mostMs;
  const attempt = async (candidate: Trial): Promise<boolean> => {
    if (++runs > mostRuns || Date.now() > endAt || !(await fails(candidate))) return false;
    smallest = candidate;
    return true;
  };
  for (const part of parts) {
    let size = Math.ceil(part.length(smallest) / 2);
    for (let isLast = false; !isLast; size = Math.ceil(size / 2)) {
      isLast = size <= 1;
      for (let from = 0; from < part.length(smallest);) {
        if (!(await attempt(part.without(smallest, from, from + size)))) from += size;
      }
    }
  }
  return smallest;
}

interface Part {
  readonly length: (trial: Trial) => number;
  readonly without: (trial: Trial, from: number, to: number) => Trial;
}

function partOf(key: 'cronJobs' | 'groups' | 'monitors' | 'namespaces'): Part {
  return {
    length: ({ history }) => history[key]?.length ?? 0,
    without: (trial, from, to) => ({
      ...trial,
      history: { ...trial.history, [key]: without<unknown>(trial.history[key] ?? [], from, to) },
    }),
  };
}

/** What is inside each CronJob, all of them in one row. */
function insideOf(key: 'edits' | 'runs'): Part {
  return {
    length: ({ history }) => history.cronJobs.reduce((sum, story) => sum + story[key].length, 0),
    without(trial, from, to) {
      let index = 0;
      const cronJobs = trial.history.cronJobs.map((story) => {
        const first = index;
        index += story[key].length;
        return { ...story, [key]: without<unknown>(story[key], Math.max(0, from - first), Math.max(0, to - first)) };
      });
      return { ...trial, history: { ...trial.history, cronJobs } };
    },
  };
}

const parts: readonly Part[] = [
  {
    length: ({ observations }) => (observations.length > 1 ? observations.length : 0),
    without: (trial, from, to) => ({
      ...trial,
      observations: without(trial.observations, from, Math.min(to, from + trial.observations.length - 1)),
    }),
  },
  partOf('cronJobs'),
  partOf('groups'),
  partOf('monitors'),
  {
    length: ({ observations: [first] }) => first?.disturbances.length ?? 0,
    without: (trial, from, to) => ({
      ...trial,
      observations: trial.observations.map((one) => ({ ...one, disturbances: without(one.disturbances, from, to) })),
    }),
  },
  insideOf('edits'),
  insideOf('runs'),
  partOf('namespaces'),
];

function without<T>(list: readonly T[], from: number, to: number): T[] {
  return list.filter((_, index) => index < from || index >= to);
}
