import type { History } from './random-history.ts';

/** A history that fails as well and has less in it, found by leaving out one thing after another. `mostPlays` bounds the search. */
export async function shrinkHistory(
  history: History,
  fails: (history: History) => Promise<boolean>,
  mostPlays = 60,
): Promise<History> {
  let smallest = history;
  let plays = 0;
  for (let progress = true; progress && plays < mostPlays;) {
    progress = false;
    for (const candidate of smallerThan(smallest)) {
      if (++plays > mostPlays) break;
      // Each attempt begins with what the last one found.
      if (!(await fails(candidate))) continue;
      smallest = candidate;
      progress = true;
      break;
    }
  }
  return smallest;
}

function* smallerThan(history: History): Generator<History> {
  const lists = ['cronJobs', 'controllerOutages', 'downtimes', 'blindTimes'] as const;
  for (const list of lists) {
    for (const index of history[list].keys()) {
      if (list === 'cronJobs' && history.cronJobs.length === 1) continue;
      yield { ...history, [list]: history[list].filter((_, other) => other !== index) };
    }
  }
  for (const [index, script] of history.cronJobs.entries()) {
    for (const edit of script.edits.keys()) {
      const edits = script.edits.filter((_, other) => other !== edit);
      yield { ...history, cronJobs: history.cronJobs.with(index, { ...script, edits }) };
    }
  }
  const hourMs = 3_600_000;
  // Everything that goes away comes back before the end: else what is left open would count as a failure.
  const outages = [...history.controllerOutages, ...history.downtimes, ...history.blindTimes];
  const leastMs = Math.max(hourMs, ...outages.map(({ toMs }) => toMs)) + hourMs / 2;
  if (history.lengthMs - hourMs > leastMs) yield { ...history, lengthMs: history.lengthMs - hourMs };
}
