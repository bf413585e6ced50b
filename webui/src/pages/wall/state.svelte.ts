import {
  wallSteps,
  type HealthState,
  type Wall,
  type WallGroup,
  type WallOutcome,
  type WallSortKey,
  type WallStep,
} from '@cronjob-monitor/shared/contract';
import { untrack } from 'svelte';
import { listMonitors } from '../../api/monitors.ts';
import { getWall } from '../../api/wall.ts';
import type { Hint } from '../../api/stream.ts';
import { msOf } from '../../format/time.ts';
import { wrongStates } from '../../format/verdict.ts';
import { router } from '../../router.svelte.ts';
import { rowKinds } from '../../state/concerns.ts';
import { countIn, listIn, wordIn } from '../../state/filters.ts';
import { now } from '../../state/now.svelte.ts';
import { Resource } from '../../state/resource.svelte.ts';
import type { WallZoom } from './zoom.ts';

/** Widths of columns that have a button; the service knows more. */
export const shownSteps = ['30m', '3h', '2m'] as const satisfies readonly WallStep[];
const groups = ['namespace', 'owner'] as const satisfies readonly WallGroup[];
const sorts = ['status', 'name', 'nextRun'] as const satisfies readonly WallSortKey[];

/** What is kept of the rows: all, those that are not well, or those that have a cell of a kind. */
export const keeps = ['all', 'broken', 'failed', 'missed', 'late', 'skipped', 'unseen', 'atRisk'] as const;
export type Keep = (typeof keeps)[number];

export const rowsPerPage = 100;
/** The clock of the service is known to the second. */
const clocksDifferMs = 2_000;
const noStates: readonly HealthState[] = [];

/** A wall with a row that the stream carries, in its place. Undefined: it has no such row, or has other ends meanwhile. */
export function withWallRow(wall: Wall, hint: Hint): Wall | undefined {
  if (hint.kind !== 'wall' || hint.data.from !== wall.from || hint.data.until !== wall.until) return undefined;
  const { row, now: at } = hint.data;
  const { namespace, name } = row.cronjob;
  const place = wall.rows.findIndex(({ cronjob }) => cronjob.namespace === namespace && cronjob.name === name);
  const before = wall.rows[place];
  if (!before) return undefined;
  if (Number(row.verdict.revision) < Number(before.verdict.revision)) return wall;
  return { ...wall, now: at > wall.now ? at : wall.now, rows: wall.rows.with(place, { ...row, group: before.group }) };
}

/** The fleet in columns of time. The view is in the address. */
export class WallState {
  readonly monitors = new Resource((signal) => listMonitors({}, signal), { isLive: false });
  readonly step: WallStep = $derived(wordIn(router.query, 'step', wallSteps, '30m'));
  /** Ends of a range that was drawn out; undefined: that of the step around now. */
  readonly from: string | undefined = $derived(router.query.get('from') ?? undefined);
  readonly until: string | undefined = $derived(router.query.get('until') ?? undefined);
  /** Rows that were drawn out, as `namespace/name`; none: all. */
  readonly rows: readonly string[] = $derived(listIn(router.query, 'rows'));
  readonly isZoomed: boolean = $derived(this.from !== undefined || this.rows.length > 0);
  readonly group: WallGroup = $derived(wordIn(router.query, 'group', groups, 'namespace'));
  readonly sort: WallSortKey = $derived(wordIn(router.query, 'sort', sorts, 'status'));
  readonly keep: Keep = $derived(wordIn(router.query, 'keep', keeps, 'all'));
  readonly search: string = $derived(router.query.get('q') ?? '');
  readonly namespaces: readonly string[] = $derived(listIn(router.query, 'ns'));
  readonly monitor: string = $derived(router.query.get('monitor') ?? '');
  readonly folded: readonly string[] = $derived(listIn(router.query, 'folded'));
  /** On a television: without filters, without a pointer. */
  readonly isTv: boolean = $derived(router.query.get('tv') === '1');
  readonly offset: number = $derived(countIn(router.query, 'offset', 0));
  readonly isFiltered: boolean = $derived(
    this.search !== '' || this.namespaces.length > 0 || this.monitor !== '' || this.keep !== 'all',
  );

  readonly wall: Resource<Wall> = $derived.by(() => {
    const { step, from, until, group, sort, keep, search, namespaces, monitor, offset } = this;
    const outcome: readonly WallOutcome[] = keep === 'all' || keep === 'broken' ? [] : [keep];
    const state = keep === 'broken' ? wrongStates : noStates;
    const question = {
      step,
      from,
      until,
      group,
      sort,
      search,
      namespace: namespaces,
      monitor,
      state,
      outcome,
      limit: rowsPerPage,
      offset,
    };
    const asked = (signal: AbortSignal): ReturnType<typeof getWall> => getWall(question, signal);
    // The stream knows the range around now alone.
    if (from !== undefined || until !== undefined)
      return new Resource(asked, { concerns: ({ kind }) => rowKinds.has(kind), fleetPauseMs: 60_000 });
    return new Resource(asked, {
      concerns: ({ kind }) => kind === 'overview' || kind === 'wall',
      merge: withWallRow,
      carries: 'wall',
      step,
      refs: ({ rows }) => rows.map(({ cronjob }) => `${cronjob.namespace}/${cronjob.name}`),
      fleetPauseMs: 60_000,
    });
  });

  /** The time that the present column begins at changes with each column, and with it the ends of the wall. */
  readonly #column: number = $derived.by(() => {
    const seconds = this.wall.value?.stepSeconds ?? 0;
    return seconds === 0 ? 0 : Math.floor((now.ms - clocksDifferMs) / (seconds * 1_000));
  });

  /** Once a column: the wall moves on. Fit for an effect. */
  followTime(): void {
    const column = this.#column;
    untrack(() => {
      const { value, phase } = this.wall;
      if (!value || phase !== 'ready' || this.until !== undefined) return;
      if (column > Math.floor(msOf(value.now) / (value.stepSeconds * 1_000))) void this.wall.refresh();
    });
  }

  readonly knownNamespaces: readonly string[] = $derived.by(() => {
    const seen = new Set(this.namespaces);
    for (const { namespace } of this.monitors.value?.items ?? []) seen.add(namespace);
    for (const { cronjob } of this.wall.value?.rows ?? []) seen.add(cronjob.namespace);
    return [...seen].sort();
  });

  change(changes: Readonly<Record<string, string | undefined>>, how: 'push' | 'replace' = 'push'): void {
    router.setQuery({ offset: undefined, ...changes }, how);
  }

  /** The page of the wall without the rows that were not drawn out. */
  shownOf(wall: Wall): Wall {
    if (this.rows.length === 0) return wall;
    return {
      ...wall,
      rows: wall.rows.filter(({ cronjob }) => this.rows.includes(`${cronjob.namespace}/${cronjob.name}`)),
    };
  }

  zoom({ from, until, step, rows }: WallZoom): void {
    router.setQuery({ from, until, step, rows: rows.length > 0 ? rows.join(',') : this.rows.join(',') });
  }

  /** Back to the range around now, and to all rows. */
  widen(): void {
    router.setQuery({ from: undefined, until: undefined, step: undefined, rows: undefined });
  }

  /** Folds a group, or unfolds it. */
  fold(group: string): void {
    const rest = this.folded.filter((one) => one !== group);
    const folded = rest.length === this.folded.length ? [...rest, group] : rest;
    router.setQuery({ folded: folded.join(',') }, 'replace');
  }
}
