import { diffArrays } from 'diff';
import type { ComparedRow, LogPiece, Words } from '../../contract/index.ts';
import { type ComparedKey, comparedKeys } from '../../contract/vocabulary.ts';
import { cutEnd } from '../text/cut.ts';
import { type ComparedRun, compareRuns } from './compare-runs.ts';
import { isObject, type Json } from '../json.ts';
import { maskLine } from '../text/mask-line.ts';

/** One of two runs that are held side by side. */
export interface RunSide extends ComparedRun {
  /** `exit code 137, OOMKilled`, `succeeded`. */
  readonly outcome: string;
  /** Of its attempts, in their order; empty: not known, and then `node` is told. */
  readonly nodes: readonly string[];
}

const mostRows = 100;
const longestValue = 500;

/** A value that is compared. Where it is not to be told, `shown` stands in its place. */
interface Fact {
  readonly key: ComparedKey;
  readonly name: string | null;
  readonly value: string;
  readonly shown?: string;
}

/**
 * Two runs side by side: what differs first, each in the order of what explains a failure most often. Of environment variables the names are
 * told and never the values, which are kept as hashes. What is not known of one of them is left out.
 *
 * @param before the run that is compared with
 */
export function compareSides(before: RunSide, after: RunSide): ComparedRow[] {
  const hasSpecs = before.template !== undefined && after.template !== undefined;
  const old = new Map(factsOf(before, hasSpecs, after).map((fact) => [keyOf(fact), fact]));
  const fresh = new Map(factsOf(after, hasSpecs, before).map((fact) => [keyOf(fact), fact]));
  const rows = [...new Map([...fresh, ...old]).values()].map(({ key, name }): ComparedRow & { isEnv: boolean } => {
    const [one, other] = [old.get(keyOf({ key, name })), fresh.get(keyOf({ key, name }))];
    const same = one?.value === other?.value;
    const isChanged = key === 'env' && !same && one !== undefined && other !== undefined;
    return {
      key,
      name,
      before: textOf(one),
      after: isChanged ? 'another value' : textOf(other),
      same,
      isEnv: key === 'env',
    };
  });
  const equalNames = rows.filter(({ isEnv, same }) => isEnv && same).length;
  const told = rows
    .filter(({ isEnv, same }) => !isEnv || !same)
    .map(({ isEnv: _, ...row }) => row)
    .concat(equalNames === 0 ? [] : [equalEnv(equalNames)])
    .concat(hasSpecs ? otherRows(before, after) : []);
  return told.toSorted((a, b) => Number(a.same) - Number(b.same) || rankOf(a) - rankOf(b)).slice(0, mostRows);
}

function rankOf({ key }: ComparedRow): number {
  return comparedKeys.indexOf(key);
}

const keyOf = ({ key, name }: Pick<Fact, 'key' | 'name'>): string => `${key}\n${name ?? ''}`;

function textOf(fact: Fact | undefined): string | null {
  return fact ? cutEnd(fact.shown ?? fact.value, longestValue) : null;
}

function equalEnv(count: number): ComparedRow {
  const text = count === 1 ? '1 name' : `${count} names`;
  return { key: 'env', name: null, before: text, after: text, same: true };
}

function factsOf(run: RunSide, hasSpecs: boolean, other: RunSide): Fact[] {
  const facts: Fact[] = [{ key: 'outcome', name: null, value: run.outcome }];
  const node = run.nodes.length > 0 ? run.nodes.join(', ') : run.node;
  const hasNodes = other.nodes.length > 0 || other.node !== undefined;
  if (node !== undefined && hasNodes) facts.push({ key: 'node', name: null, value: node });
  if (run.schedule !== undefined && other.schedule !== undefined)
    facts.push({ key: 'schedule', name: null, value: [run.schedule, run.timeZone].filter(Boolean).join(' ') });
  for (const [container, image] of Object.entries(run.images ?? {}))
    if (other.images?.[container] !== undefined)
      facts.push({ key: 'digest', name: container, value: image.slice(image.lastIndexOf('@') + 1) });
  return hasSpecs ? [...facts, ...containersIn(run.template).flatMap(containerFacts)] : facts;
}

function containersIn(template: unknown): Json[] {
  const pod = isObject(template) && isObject(template['template']) ? template['template']['spec'] : undefined;
  if (!isObject(pod)) return [];
  return ['initContainers', 'containers'].flatMap((list) =>
    Array.isArray(pod[list]) ? pod[list].filter(isObject) : [],
  );
}

function containerFacts(container: Json): Fact[] {
  const name = typeof container['name'] === 'string' ? container['name'] : null;
  const listed = (key: 'command' | 'args'): Fact[] => {
    const value = container[key];
    return Array.isArray(value) ? [{ key, name, value: value.map(String).join(' ') }] : [];
  };
  const image = container['image'];
  const resources = isObject(container['resources']) ? container['resources'] : {};
  const env = Array.isArray(container['env']) ? container['env'].filter(isObject) : [];
  return [
    ...(typeof image === 'string' ? [{ key: 'image' as const, name, value: image }] : []),
    ...listed('command'),
    ...listed('args'),
    ...env.map(({ name: variable, ...rest }): Fact => ({
      key: 'env',
      name: name === null ? String(variable) : `${name}: ${String(variable)}`,
      value: JSON.stringify(rest),
      shown: 'set',
    })),
    ...['limits', 'requests'].flatMap((kind) =>
      Object.entries(isObject(resources[kind]) ? resources[kind] : {}).map(([what, amount]): Fact => ({
        key: 'resources',
        name: `${name ?? ''}: ${what} ${kind === 'limits' ? 'limit' : 'request'}`,
        value: String(amount),
      })),
    ),
  ];
}

/** Paths that have a row of their own. */
const told = /(\.(image|imageDigest)|^(node|schedule|timeZone))$|\.(command|args|env)(\[|$)|\.resources\./;

/** What else of the spec differs, by its path. */
function otherRows(before: RunSide, after: RunSide): ComparedRow[] {
  return compareRuns(before, after)
    .filter(({ path }) => !told.test(path))
    .map(({ path, before: old, after: fresh }) => ({
      key: 'spec',
      name: path,
      before: old,
      after: fresh,
      same: false,
    }));
}

const nouns: Readonly<Record<ComparedKey, string>> = {
  image: 'image',
  digest: 'image digest',
  command: 'command',
  args: 'arguments',
  env: 'env names',
  resources: 'resources',
  spec: 'spec',
  schedule: 'schedule',
  node: 'node',
  outcome: 'outcome',
};

/** `Image, arguments and node differ`: what of the rows differs besides the outcome. */
export function differenceWords(rows: readonly ComparedRow[]): Words {
  const differing = [...new Set(rows.filter(({ same, key }) => !same && key !== 'outcome').map(({ key }) => key))];
  const list = differing.map((key) => nouns[key]);
  const [first = ''] = list;
  if (first === '') return 'Nothing that is known differs but the outcome';
  // Runs of a fleet land on another node each time: by itself that explains little.
  if (list.length === 1 && first === nouns.node) return 'Only the node differs';
  const all = list.length === 1 ? first : `${list.slice(0, -1).join(', ')} and ${list.at(-1) ?? ''}`;
  const isOne = list.length === 1 && !first.endsWith('s');
  return `${all.charAt(0).toUpperCase()}${all.slice(1)} ${isOne ? 'differs' : 'differ'}`;
}

/** The end of a log that is compared, lines: what went wrong stands there. */
const mostLines = 5_000;
/** A line longer than this is cut, characters. */
const longestLine = 2_000;
/** Logs that need more changes than this say nothing alike: they are told one after the other. Bounds the time, which grows with its square. */
const mostEdits = 1_000;

/**
 * What the logs of two runs have in common, and what each has alone, in the order of both. Lines that differ in numbers, times and ids alone
 * are the same; they are told as this run has them. Of longer logs the last 5,000 lines are compared.
 */
export function logDifference(here: string, there: string): LogPiece[] {
  const [mine, other] = [lastLines(here), lastLines(there)];
  const edits = diffArrays(mine.lines.map(maskLine), other.lines.map(maskLine), { maxEditLength: mostEdits });
  // Too much differs.
  if (!edits)
    return [piece('here', mine.from, mine.lines), piece('there', other.from, other.lines)].filter(
      ({ lines }) => lines.length > 0,
    );
  let [inMine, inOther] = [0, 0];
  return edits.map(({ added, removed, count }) => {
    if (added) {
      const at = inOther;
      inOther += count;
      return piece('there', other.from + at, other.lines.slice(at, inOther));
    }
    const at = inMine;
    inMine += count;
    if (!removed) inOther += count;
    return piece(removed ? 'here' : 'same', mine.from + at, mine.lines.slice(at, inMine));
  });
}

function piece(kind: LogPiece['kind'], from: number, lines: readonly string[]): LogPiece {
  return { kind, from, lines };
}

function lastLines(log: string): { readonly from: number; readonly lines: readonly string[] } {
  const all = log.replace(/\n$/, '').split('\n');
  if (log === '') return { from: 1, lines: [] };
  const lines = all.slice(-mostLines).map((line) => line.slice(0, longestLine));
  return { from: all.length - lines.length + 1, lines };
}
