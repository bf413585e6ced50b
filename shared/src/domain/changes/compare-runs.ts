import type { ExecutionChange } from '../../contract/index.ts';
import { cutEnd } from '../text/cut.ts';
import { flattenTemplate } from './flatten-template.ts';

/** A run as far as it can differ from another. Undefined: not known, and then not compared. */
export interface ComparedRun {
  /** The Job's spec without its generated parts, as it is stored. */
  readonly template: unknown;
  readonly schedule: string | undefined;
  readonly timeZone: string | undefined;
  readonly node: string | undefined;
  /** What each image was when it ran, by container: a tag may move. */
  readonly images: Readonly<Record<string, string>> | undefined;
}

const mostChanges = 50;
const mostCharacters = 200;

/**
 * What differs between two runs, path by path: what runs first, then when, then where. Empty: nothing that is known differs. Values are
 * text of at most 200 characters.
 */
export function compareRuns(before: ComparedRun, after: ComparedRun): ExecutionChange[] {
  const changes = [
    ...compareTemplates(before.template, after.template),
    ...compareImages(before, after),
    ...(before.schedule !== undefined && after.schedule !== undefined
      ? [
          ...compare('schedule', before.schedule, after.schedule),
          ...compare('timeZone', before.timeZone, after.timeZone),
        ]
      : []),
    ...(before.node !== undefined && after.node !== undefined ? compare('node', before.node, after.node) : []),
  ];
  return bounded(changes);
}

function compareTemplates(before: unknown, after: unknown): ExecutionChange[] {
  if (before === undefined || after === undefined) return [];
  const [old, fresh] = [flattenTemplate(before), flattenTemplate(after)];
  const paths = new Set([...old.keys(), ...fresh.keys()]);
  const changes = [...paths].flatMap((path) => compare(path, old.get(path), fresh.get(path)));
  return changes.toSorted((a, b) => rankOf(a.path) - rankOf(b.path) || (a.path < b.path ? -1 : 1));
}

/** What explains a failure most often stands first. */
const ranks = [/\.image$/, /\.(command|args)(\[|$)/, /\.(env|envFrom)(\[|$)/, /\.resources\./, /^(initC|c)ontainers\[/];

function rankOf(path: string): number {
  const rank = ranks.findIndex((shape) => shape.test(path));
  return rank < 0 ? ranks.length : rank;
}

/** A changed tag is told by the template; here is told that the same one means something else now. */
function compareImages(before: ComparedRun, after: ComparedRun): ExecutionChange[] {
  if (before.images === undefined || after.images === undefined) return [];
  const [old, fresh] = [before.images, after.images];
  return Object.keys(fresh)
    .filter((container) => Object.hasOwn(old, container))
    .flatMap((container) =>
      compare(`containers[${container}].imageDigest`, digestOf(old[container]), digestOf(fresh[container])),
    );
}

/** `sha256:…` of `registry/name@sha256:…`; the same image of another registry is the same. */
function digestOf(imageId: string | undefined): string | undefined {
  return imageId?.slice(imageId.lastIndexOf('@') + 1);
}

function compare(path: string, before: string | undefined, after: string | undefined): ExecutionChange[] {
  return before === after ? [] : [{ path, before: before ?? null, after: after ?? null }];
}

function bounded(changes: readonly ExecutionChange[]): ExecutionChange[] {
  const cut = changes.slice(0, changes.length > mostChanges ? mostChanges - 1 : mostChanges).map(short);
  const more = changes.length - cut.length;
  return more === 0 ? cut : [...cut, { path: `${more} more changes`, before: null, after: null }];
}

function short({ path, before, after }: ExecutionChange): ExecutionChange {
  const text = (value: string | null): string | null => (value === null ? null : cutEnd(value, mostCharacters));
  const [old, fresh] = [text(before), text(after)];
  if (old === null || fresh === null || old !== fresh)
    return { path: cutEnd(path, mostCharacters), before: old, after: fresh };
  // What differs lies behind the cut: begin where it does.
  const from = Math.max(0, differsAt(before ?? '', after ?? '') - mostCharacters / 2);
  const tail = (value: string | null): string => `…${cutEnd((value ?? '').slice(from), mostCharacters - 1)}`;
  return { path: cutEnd(path, mostCharacters), before: tail(before), after: tail(after) };
}

function differsAt(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}
