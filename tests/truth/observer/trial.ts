import { createLogger, systemClock } from '@cronjob-monitor/shared/process';
import type { StoreSettings } from '@cronjob-monitor/shared/store';
import { describe, differencesOf, type Difference } from './compare.ts';
import { Exceptions } from './exceptions.ts';
import { minuteMs, type History, type Observation } from './history.ts';
import { playKubernetes } from './kubernetes.ts';
import { observe, type ObserveDeps } from './observe.ts';
import { calm } from './random-observation.ts';
import type { Verdict } from './verdicts.ts';

/** One history and those who look at it. */
export interface Trial {
  readonly history: History;
  readonly observations: readonly Observation[];
}

export interface TrialResult {
  /** Of each observation, in order. */
  readonly differences: readonly (readonly Difference[])[];
  readonly allowed: number;
  /** Of the calm observer. */
  readonly verdicts: readonly Verdict[];
}

const quietLogger = createLogger({ level: 'error', format: 'text', clock: systemClock, write: () => {} });

/** A calm observer has judged within this time whatever time alone decides. */
export const judgedWithinMs = 30 * minuteMs;

/** Lets a calm observer look and every other one, and compares what they said. */
export async function run(
  { history, observations }: Trial,
  freshDatabase: () => Promise<StoreSettings>,
): Promise<TrialResult> {
  const deps: ObserveDeps = { freshDatabase, logger: quietLogger };
  const played = playKubernetes(history);
  const expected = (await observe(history, calm(history), deps, played)).verdicts;
  const differences: Difference[][] = [];
  let allowed = 0;
  for (const observation of observations) {
    const { verdicts } = await observe(history, observation, deps, played);
    const exceptions = new Exceptions(history, played, observation);
    const found = differencesOf(expected, verdicts, history.endAt - judgedWithinMs);
    const real = found.filter(({ verdict }) => !exceptions.allows(verdict));
    allowed += found.length - real.length;
    differences.push(real);
  }
  return { differences, allowed, verdicts: expected };
}

export { describe };
