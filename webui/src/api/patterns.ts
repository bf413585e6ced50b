import type { PatternTestInput, PatternTestResult } from '@cronjob-monitor/shared/contract';
import { act } from './client.ts';

/** Tries one pattern with the engine that the service uses. */
export function testPattern(input: PatternTestInput): Promise<PatternTestResult> {
  return act('POST', 'patterns/test', input);
}
