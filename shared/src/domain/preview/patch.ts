import { ownName } from '../objects/own-name.ts';
import { isDeepStrictEqual } from 'node:util';
import { structuredPatch } from 'diff';
import { stringify } from 'yaml';
import type { PreviewPatch, Ref, PreviewChange } from '../../contract/index.ts';
import { type Json, isObject } from '../json.ts';
import type { Instant } from '../instant.ts';
import type { PreviewedAlert } from './preview.ts';

/**
 * What changes a monitor from one spec as applied to another, to be copied: the YAML of the whole resource, the lines that differ with three around them, and
 * a `kubectl patch` with a JSON merge patch (RFC 7386). Diff and command are empty when nothing changes.
 */
export function patchOf({ namespace, name }: Ref, inForce: object, wished: object): PreviewPatch {
  const [before, after] = [withoutUndefined(inForce), withoutUndefined(wished)];
  const yamlOf = (spec: unknown): string =>
    stringify(
      { apiVersion: ownName('v1alpha1'), kind: 'CronJobMonitor', metadata: { name, namespace }, spec },
      { lineWidth: 0 },
    );
  const yaml = yamlOf(after);
  const change = mergePatch(before, after);
  if (change === undefined) return { diff: '', yaml, command: '' };
  const command = mergeCommand({ kind: 'cronjobmonitor', namespace, name }, { spec: change });
  return { diff: diffLines(yamlOf(before), yaml), yaml, command };
}

interface Patched extends Ref {
  readonly kind: 'cronjob' | 'cronjobmonitor';
}

/** Writes one field of an object, by its path such as `spec.sla.maxDuration`; null removes it. */
export function patchCommand(of: Patched, path: string, value: unknown): string {
  return mergeCommand(
    of,
    path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value),
  );
}

/** A `kubectl patch` with a JSON merge patch (RFC 7386). */
export function mergeCommand({ kind, namespace, name }: Patched, change: unknown): string {
  return `kubectl -n ${namespace} patch ${kind} ${name} --type merge -p ${quoted(JSON.stringify(change))}`;
}

function diffLines(before: string, after: string): string {
  const { hunks } = structuredPatch('', '', before, after, '', '', { context: 3 });
  return hunks
    .map(({ oldStart, oldLines, newStart, newLines, lines }) =>
      [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines].join('\n'),
    )
    .join('\n');
}

/** What JSON keeps of it. */
function withoutUndefined(spec: object): Json {
  return JSON.parse(JSON.stringify(spec)) as Json;
}

/** Only what differs; a key that is gone is null, a list is given whole. Undefined: nothing differs. */
function mergePatch(before: Json, after: Json): Json | undefined {
  const changes = [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key): [string, unknown][] => {
    const [was, is] = [before[key], after[key]];
    if (isDeepStrictEqual(was, is)) return [];
    if (is === undefined) return [[key, null]];
    return [[key, isObject(was) && isObject(is) ? (mergePatch(was, is) ?? {}) : is]];
  });
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

/** One word of a POSIX shell, whatever stands in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * What other rules would change about the alerts of one CronJob: an alert is kept when the rules in force raise one of its type and subject at
 * some time while it is open, else it is new; what they raise beside that is gone.
 */
export function changesOf<Now extends PreviewedAlert, Then extends PreviewedAlert>(
  inForce: readonly Now[],
  wished: readonly Then[],
): { readonly changeOf: (alert: Then) => PreviewChange; readonly gone: readonly Now[] } {
  const kept = new Set(wished.filter((alert) => inForce.some((other) => isSame(alert, other))));
  return {
    changeOf: (alert) => (kept.has(alert) ? 'kept' : 'new'),
    gone: inForce.filter((alert) => !wished.some((other) => isSame(alert, other))),
  };
}

function isSame(a: PreviewedAlert, b: PreviewedAlert): boolean {
  return a.type === b.type && a.subject === b.subject && a.sinceAt <= endOf(b) && b.sinceAt <= endOf(a);
}

function endOf({ endedAt = Infinity }: PreviewedAlert): Instant {
  return endedAt;
}
