import type { ExecutionStatus } from './execution.ts';
import type { JobFacts } from '../objects/job.ts';
import type { OutputFacts, PodFacts } from '../objects/pod.ts';

/** A line with facts begins with it. */
const factsMark = '::cronjob-monitor ';
/** The fact that every run with a start and an end has. */
export const durationFact = 'duration_seconds';
export const factNamePattern = '^[a-z][a-z0-9_]{0,31}$';
const mostFactValue = 1e15;
/** Lines at the end of a log in which facts are looked for. */
export const factsTailLines = 20;
/** The log of a Job with more pods is not read for facts: a sum of some of them would be wrong. */
export const mostFactPods = 20;

const mostPairs = 16;
const mostProblems = 20;
/** A termination message has no more. */
const longestLine = 4_096;
const longestNumber = 64;
const nameExpression = new RegExp(factNamePattern);
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

const noFacts: OutputFacts = { values: new Map(), problems: [] };

/** Facts of the last line with the mark; undefined: there is none. At most 16 pairs of at most 4,096 characters count. Throws nothing. */
export function readFacts(text: string): OutputFacts | undefined {
  const at = text.lastIndexOf(`\n${factsMark}`);
  if (at < 0 && !text.startsWith(factsMark)) return undefined;
  const start = at + 1 + factsMark.length;
  const window = text.slice(at < 0 ? factsMark.length : start, (at < 0 ? factsMark.length : start) + longestLine + 1);
  const [line = ''] = window.split(/[\r\n]/, 1);
  const values = new Map<string, number>();
  const problems: string[] = [];
  if (line.length > longestLine) problems.push(`only the first ${longestLine} characters of the line count`);
  const pairs = line
    .slice(0, longestLine)
    .split(/[ \t]+/)
    .filter((pair) => pair !== '');
  for (const [index, pair] of pairs.slice(0, mostPairs).entries()) {
    const problem = takePair(pair, index + 1, values);
    if (problem !== undefined) problems.push(problem);
  }
  if (pairs.length > mostPairs) problems.push(`only the first ${mostPairs} pairs count`);
  return { values, problems };
}

/** The problem with it; undefined: it counts. */
function takePair(pair: string, place: number, values: Map<string, number>): string | undefined {
  const split = pair.indexOf('=');
  const name = split < 0 ? pair : pair.slice(0, split);
  if (!nameExpression.test(name))
    return `pair ${place} has no name of a to z, 0 to 9 and _, with a letter first, of at most 32 characters`;
  if (name === durationFact) return `${durationFact} is measured and cannot be given`;
  const written = split < 0 ? '' : pair.slice(split + 1);
  const value = written.length <= longestNumber && jsonNumber.test(written) ? Number(written) : NaN;
  if (!Number.isFinite(value)) return `${name} has no number`;
  if (Math.abs(value) > mostFactValue) return `${name} is beyond 1e15`;
  const isSecond = values.has(name);
  values.set(name, value === 0 ? 0 : value);
  return isSecond ? `${name} is given twice and the last one counts` : undefined;
}

/** Of the containers of one pod, in the order of its spec: later ones win. */
export function lastFacts(given: readonly (OutputFacts | undefined)[]): OutputFacts | undefined {
  const known = given.filter((facts) => facts !== undefined);
  if (known.length === 0) return undefined;
  return {
    values: new Map(known.flatMap(({ values }) => [...values])),
    problems: distinct(known.flatMap(({ problems }) => problems)),
  };
}

/** Of the pods of one Job: values of one name add up. */
export function addFacts(given: readonly (OutputFacts | undefined)[]): OutputFacts | undefined {
  const known = given.filter((facts) => facts !== undefined);
  if (known.length === 0) return undefined;
  const sums = new Map<string, number>();
  for (const { values } of known) for (const [name, value] of values) sums.set(name, (sums.get(name) ?? 0) + value);
  const isBeyond = ([, sum]: readonly [string, number]): boolean => Math.abs(sum) > mostFactValue;
  const beyond = [...sums].filter(isBeyond).map(([name]) => `${name} adds up to more than 1e15`);
  return {
    values: new Map([...sums].filter((entry) => !isBeyond(entry))),
    problems: distinct([...known.flatMap(({ problems }) => problems), ...beyond]),
  };
}

/**
 * The pods whose output is that of the run: those that succeeded; without one, the newest that failed. A pod that failed and was tried again
 * adds nothing to what its successor wrote.
 */
export function podsWithOutput(pods: readonly PodFacts[]): readonly PodFacts[] {
  const succeeded = pods.filter(({ phase }) => phase === 'Succeeded');
  return succeeded.length > 0 ? succeeded : pods.toSorted((a, b) => b.createdAt - a.createdAt).slice(0, 1);
}

/** Whether all pods whose output is that of the run were seen to end: the end of a Job may be seen before. A part of a sum is wrong. */
export function isOutputKnown(
  status: ExecutionStatus,
  { succeededPods }: Pick<JobFacts, 'succeededPods'>,
  pods: readonly PodFacts[],
): boolean {
  const seen = (phase: string): number => pods.filter((pod) => pod.phase === phase).length;
  return status === 'success' ? seen('Succeeded') >= Math.max(1, succeededPods) : seen('Failed') > 0;
}

/** Facts from the termination messages of a Job's pods; undefined: none has any. Init containers and sidecars do not count. */
export function factsOfPods(pods: readonly PodFacts[]): OutputFacts | undefined {
  return addFacts(
    podsWithOutput(pods).map(({ containers }) => lastFacts(containers.map(({ terminated }) => terminated?.output))),
  );
}

/** Without any, and why. */
export function withoutFacts(problem: string): OutputFacts {
  return { ...noFacts, problems: [problem] };
}

function distinct(problems: readonly string[]): string[] {
  return [...new Set(problems)].slice(0, mostProblems);
}
