import type { ExecutionChange, Words } from '../../contract/index.ts';
import { cutEnd } from '../text/cut.ts';
import { counted } from '../delivery/wording.ts';
import { isObject } from '../json.ts';

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

/** Where and when a run ran explains no failure by itself. */
const besides = new Set(['schedule', 'timeZone', 'node']);

/**
 * The first of what differs, in a few words: `since image 1.8.2 → 1.9.0 and 1 other change`. Values of images and resources alone are told.
 * Undefined: nothing that a deploy changes.
 */
export function changeWords(changes: readonly ExecutionChange[]): Words | undefined {
  const [first, ...others] = changes.filter(({ path }) => !besides.has(path));
  if (first === undefined) return undefined;
  const { path, before, after } = first;
  const what = path
    .replace(/^(?:initC|c)ontainers\[[^\]]*\]\./, '')
    .replace(/^env\[([^\]]*)\].*/, 'env $1')
    .replace(/^imageDigest$/, 'image digest');
  const [old, fresh] = what === 'image' ? withoutRepository(before, after) : [before, after];
  const isTold = old !== null && fresh !== null && /^(?:image$|resources\.)/.test(what);
  const told = isTold ? `${what} ${cutEnd(old, 60)} → ${cutEnd(fresh, 60)}` : `another ${what}`;
  return `since ${told}${others.length === 0 ? '' : ` and ${counted(others.length, 'other change')}`}`;
}

/** Tags alone where only they differ. */
function withoutRepository(before: string | null, after: string | null): [string | null, string | null] {
  const nameOf = (image: string): string => image.replace(/:[^:/]*$/, '');
  if (before === null || after === null || nameOf(before) !== nameOf(after)) return [before, after];
  const [old, fresh] = [before, after].map((image) => image.slice(nameOf(image).length + 1) || 'latest');
  return [old ?? null, fresh ?? null];
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

/** Deeper values are one text, and a hostile spec is cut here. */
const maxDepth = 20;
const mostPaths = 5_000;

/** What stands in front of these says nothing: `template.spec.containers[main].image` is `containers[main].image`. */
const silentPrefixes = [
  ['template', 'spec'],
  ['template', 'metadata'],
];

/**
 * The leaves of a Job's spec by path. Items of a list are named by their `name` (`containers[backup].image`) or by what else tells them
 * apart, so that one more in front moves no other; lists of plain values are one text.
 */
function flattenTemplate(spec: unknown): ReadonlyMap<string, string> {
  const leaves = new Map<string, string>();
  if (isObject(spec)) flattenObject(spec, [], leaves);
  return leaves;
}

type Path = readonly string[];

function flatten(value: unknown, path: Path, leaves: Map<string, string>): void {
  if (leaves.size >= mostPaths) return;
  if (value === null || value === undefined) return;
  if (path.length >= maxDepth || (typeof value !== 'object' && typeof value !== 'string')) {
    leaves.set(toText(path), JSON.stringify(value));
  } else if (typeof value === 'string') leaves.set(toText(path), value);
  else if (Array.isArray(value)) flattenList(value, path, leaves);
  else flattenObject(value as Readonly<Record<string, unknown>>, path, leaves);
}

function flattenObject(value: Readonly<Record<string, unknown>>, path: Path, leaves: Map<string, string>): void {
  const keys = Object.keys(value);
  // `emptyDir: {}` says something.
  if (keys.length === 0 && path.length > 3) leaves.set(toText(path), '{}');
  for (const key of keys) flatten(value[key], [...path, key], leaves);
}

function flattenList(items: readonly unknown[], path: Path, leaves: Map<string, string>): void {
  const key = items.length > 0 ? keyOf(items) : undefined;
  if (key === undefined) {
    if (items.length > 0) leaves.set(toText(path), JSON.stringify(items));
    return;
  }
  for (const item of items as readonly Readonly<Record<string, unknown>>[]) {
    const { [key]: name, ...others } = item;
    // A list of names alone, such as pull secrets, still says who is in it.
    const isBare = Object.keys(others).length === 0;
    const itemPath = [...path.slice(0, -1), `${path.at(-1) ?? ''}[${String(name)}]`];
    if (isBare) leaves.set(toText(itemPath), String(name));
    else flattenObject(others, itemPath, leaves);
  }
}

/** The field by which the items of lists are told apart, in pods. */
const nameKeys = ['name', 'mountPath', 'containerPort', 'key', 'ip'];

function keyOf(items: readonly unknown[]): string | undefined {
  if (!items.every(isObject)) return undefined;
  return nameKeys.find((key) => {
    const names = items.map((item) => item[key]);
    const areNames = names.every((name) => typeof name === 'string' || typeof name === 'number');
    return areNames && new Set(names).size === items.length;
  });
}

function toText(path: Path): string {
  const silent = silentPrefixes.find((prefix) => prefix.every((part, index) => path[index] === part));
  return path.slice(silent && path.length > silent.length ? silent.length : 0).join('.');
}
