import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printWords as printForMessages } from '@cronjob-monitor/shared/domain';

/** What a page prints: it belongs to another project of the compiler, and may not share code with the service. */
const { printWords: printForPages } = (await import(
  new URL('../../webui/src/format/print-words.ts', import.meta.url).href
)) as {
  printWords: (words: string, viewer: { nowMs: number; timeZone: string }) => string; // as that file exports it
};

test('a page prints the instants of a sentence as messages and the command line do', () => {
  const now = Date.parse('2026-11-21T00:40:00.250Z');
  const steps = [
    0, 0.4, 1, 59, 60, 61, 299, 300, 3_599, 3_600, 3_661, 35_999, 86_399, 86_400, 172_799, 172_800, 600_001,
  ];
  const distances = [...steps, ...Array.from({ length: 400 }, (_, index) => Math.round(1.041 ** index))];
  for (const timeZone of ['UTC', 'Europe/Zurich', 'America/St_Johns', 'Pacific/Apia']) {
    for (const seconds of distances) {
      for (const at of [now - seconds * 1_000, now + seconds * 1_000]) {
        const instant = new Date(at).toISOString();
        const words = `a {age:${instant}} b {ago:${instant}} c {in:${instant}} d {at:${instant}} e {at:?}`;
        assert.equal(printForPages(words, { nowMs: now, timeZone }), printForMessages(words, { now, timeZone }));
      }
    }
  }
});
