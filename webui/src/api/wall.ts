import type {
  HealthState,
  Tonight,
  Wall,
  WallGroup,
  WallOutcome,
  WallSortKey,
  WallStep,
} from '@cronjob-monitor/shared/contract';
import { get, type Answer } from './client.ts';

/** Which of the runs to come may end badly: until the morning of a zone, by day until its evening. */
export function getTonight(
  query: { readonly zone: string; readonly limit: number },
  signal?: AbortSignal,
): Promise<Answer<Tonight>> {
  return get('tonight', { ...query }, signal);
}

/** The fleet in columns of time: what was, and what is to come. */
export function getWall(
  query: {
    readonly step: WallStep;
    readonly group: WallGroup;
    readonly sort: WallSortKey;
    readonly search: string;
    readonly namespace: readonly string[];
    readonly monitor: string;
    readonly state: readonly HealthState[];
    readonly outcome: readonly WallOutcome[];
    readonly limit: number;
    readonly offset: number;
  },
  signal?: AbortSignal,
): Promise<Answer<Wall>> {
  return get('wall', { ...query }, signal);
}
