import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HealthState, RiskLevel } from '@cronjob-monitor/shared/contract';
import { fitting, fittingRisks } from './fitting.ts';

const rows = (count: number, state: HealthState): { verdict: { state: HealthState } }[] =>
  Array.from({ length: count }, () => ({ verdict: { state } }));
const screen = { windowPx: 900, widthPx: 1440, topPx: 250, textPx: (text: string) => text.length * 6.1 };

const linesOf = ({ risks }: { readonly risks: readonly { readonly level: RiskLevel }[] }): number =>
  risks[0]?.level === 'likely' ? 3 : 2;

describe('the incidents of the first page', () => {
  test('are as many as fit into the window, and those that fail have a row at least', () => {
    const many = { open: [...rows(2, 'critical'), ...rows(30, 'warning')], failing: rows(9, 'failing') };
    const { open, failing } = fitting(many, screen);
    assert.deepEqual([open.length, failing.length], [9, 1]);
    const higher = fitting(many, { ...screen, windowPx: 1_200 });
    assert.ok(higher.open.length > open.length, 'a higher window shows more');
  });

  test('leave what they do not need to those that fail', () => {
    const { open, failing } = fitting({ open: rows(1, 'warning'), failing: rows(19, 'failing') }, screen);
    assert.deepEqual([open.length, failing.length], [1, 10]);
  });

  test('are fewer where there is more to explain, and no fewer in a wide window that has it in one line', () => {
    const cause = 'Container backup was killed at its memory limit of 512Mi in 3 attempts. '.repeat(4);
    const [first, ...others] = [...rows(1, 'critical'), ...rows(20, 'warning')];
    const explained = [{ verdict: { ...first?.verdict, state: 'critical' as const, cause } }, ...others];
    const shown = (open: typeof explained, widthPx = 1440): number =>
      fitting({ open, failing: [] }, { ...screen, widthPx }).open.length;
    assert.equal(shown(explained), shown([...rows(1, 'critical'), ...others]) - 2);
    assert.equal(shown(explained, 3_840), shown([...rows(1, 'critical'), ...others]));
  });

  test('are open from the first on as far as there is room, where all of them are shown', () => {
    const unfolded = (count: number): number =>
      fitting({ open: [...rows(1, 'critical'), ...rows(count, 'warning')], failing: rows(1, 'failing') }, screen)
        .unfolded.size;
    assert.deepEqual([unfolded(2), unfolded(20)], [3, 0]);
    assert.ok(unfolded(6) > 0 && unfolded(6) < 7, 'some of them');
    assert.equal(fitting({ open: rows(1, 'warning'), failing: [] }, { ...screen, widthPx: 768 }).unfolded.size, 0);
  });

  test('stand for many in a folded row, also critical ones', () => {
    const two = ['nightly-report', 'weekly-report'].map((name) => ({ ref: { namespace: 'team-b', name } }));
    const shown = (members: typeof two, change: string | null = null): number => {
      const open = rows(20, 'critical').map(({ verdict }) => ({ verdict: { ...verdict, change }, members }));
      return fitting({ open, failing: [] }, screen).open.length;
    };
    assert.ok(shown(two) > shown([]));
    assert.ok(shown(two, 'Name another image, '.repeat(9)) < shown(two), 'what is to be done has a second line');
  });

  test('are six critical ones with a line of why, and fewer where something holds each back', () => {
    const said = { state: 'critical' as const, cause: 'Quota team-limit is used up' };
    const hold = { kind: 'waits', by: null, until: null, words: 'Parked until its channel is mended' } as const;
    const shown = (holds: readonly (typeof hold)[]): number =>
      fitting({ open: Array.from({ length: 12 }, () => ({ verdict: { ...said, holds } })), failing: [] }, screen).open
        .length;
    assert.deepEqual([shown([]), shown([hold])], [6, 5]);
  });

  test('are fewer where a channel refuses each of them', () => {
    const shown = (reason: 'parked' | null): number => {
      const told = { state: reason ? 'held' : 'sent', reason, word: null, until: null, channels: [] } as const;
      const open = rows(12, 'critical').map(({ verdict }) => ({ verdict: { ...verdict, told } }));
      return fitting({ open, failing: [] }, screen).open.length;
    };
    assert.ok(shown('parked') < shown(null));
  });

  test('are fewer where the sentence of a folded row goes on in a second line', () => {
    const shown = (words: string): number => {
      const open = rows(20, 'warning').map(({ verdict }) => ({
        verdict: { ...verdict, words },
        ref: { namespace: 'team-b', name: 'partner-feed' },
        alerts: ['failed', 'stuck'],
      }));
      return fitting({ open, failing: [] }, screen).open.length;
    };
    const at = '{ago:2026-11-28T11:00:00Z}';
    assert.deepEqual([shown('Suspended'), shown(`Last run failed ${at}: exit code 1, Error`)], [11, 8]);
  });

  test('are four at least, however low the window is', () => {
    const { open } = fitting({ open: rows(9, 'critical'), failing: [] }, { ...screen, windowPx: 300 });
    assert.equal(open.length, 4);
  });

  test('are five on a phone, of those that fail one at least', () => {
    const many = { open: rows(20, 'critical'), failing: rows(20, 'failing') };
    const { open, failing } = fitting(many, { ...screen, widthPx: 390 });
    assert.deepEqual([open.length, failing.length], [4, 1]);
    const few = fitting({ ...many, open: rows(2, 'warning') }, { ...screen, widthPx: 390 });
    assert.deepEqual([few.open.length, few.failing.length], [2, 3]);
  });

  test('are all there where the page is one column, which scrolls', () => {
    const many = { open: rows(20, 'critical'), failing: rows(20, 'failing') };
    assert.deepEqual(fitting(many, { ...screen, widthPx: 1_199 }), { ...many, unfolded: new Set() });
  });
});

describe('the CronJobs at risk of the first page', () => {
  test('begin with what no incident beside them tells, the likely ones first all the same', () => {
    const item = (name: string, level: RiskLevel) =>
      ({ cronjob: { namespace: 'prod', name }, risks: [{ code: 'rate', level, words: '' }] }) as const;
    const items = [item('broken', 'likely'), item('slow', 'likely'), item('etl', 'possible'), item('odd', 'possible')];
    const incidents = [
      { cronjob: { namespace: 'prod', name: 'broken' } },
      { cronjob: { namespace: 'prod', name: 'etl' } },
    ];
    const { full } = fittingRisks(
      { items, score: { nights: 0 } },
      { lanes: 0, lines: 0, incidents, linesOf },
      { ...screen, widthPx: 768 },
    );
    assert.deepEqual(
      full.map(({ cronjob }) => cronjob.name),
      ['slow', 'broken', 'odd', 'etl'],
    );
  });

  const cronjob = { namespace: 'prod', name: 'backup' };
  const items = (...levels: RiskLevel[]) =>
    levels.map((level) => ({ cronjob, risks: [{ code: 'repeats' as const, level, words: 'Failed twice' }] }));
  const many = items('likely', ...Array.from({ length: 19 }, () => 'possible' as const));
  const tonight = (nights: number) => ({ items: many, score: { nights } });

  const rows = (lanes: number, windowPx: number, of = tonight(0)): readonly [full: number, brief: number] => {
    const { full, brief } = fittingRisks(
      of,
      { lanes, lines: 4, incidents: [], linesOf },
      { windowPx, widthPx: 1440, topPx: 318 },
    );
    return [full.length, brief.length];
  };

  test('are named as far as the lanes and the service under them leave room', () => {
    assert.deepEqual(
      [rows(0, 900), rows(4, 900), rows(6, 900), rows(6, 1_200)],
      [
        [1, 9],
        [2, 4],
        [1, 4],
        [7, 5],
      ],
    );
    assert.deepEqual(
      [rows(5, 904), rows(5, 904, tonight(30))],
      [
        [1, 5],
        [1, 4],
      ],
      'the nights before take a line',
    );
    assert.deepEqual(rows(6, 500), [0, 3], 'three are there however low the window is');
  });

  test('have their whole reason, from the worst on, where there is room beside the names', () => {
    const few = { items: many.slice(0, 4), score: { nights: 0 } };
    assert.deepEqual(
      [rows(0, 900, few), rows(5, 900, few), rows(6, 900, few)],
      [
        [4, 0],
        [3, 1],
        [2, 2],
      ],
    );
  });

  test('are six with their whole reason where the page is one column, and on a phone one and three names', () => {
    const shown = (widthPx: number): number[] => {
      const { full, brief } = fittingRisks(
        tonight(30),
        { lanes: 6, lines: 4, incidents: [], linesOf },
        { windowPx: 844, widthPx, topPx: 900 },
      );
      return [full.length, brief.length];
    };
    assert.deepEqual(shown(768), [6, 0]);
    assert.deepEqual(shown(390), [1, 3]);
  });
});
