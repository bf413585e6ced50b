import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Told, Verdict } from '@cronjob-monitor/shared/contract';
import { printWords } from './print-words.ts';
import {
  edgeOf,
  explanationText,
  findingNotes,
  holdMark,
  statesText,
  toldOf,
  verdictMark,
  verdictText,
  whyText,
  wrongStates,
  stepLink,
} from './verdict.ts';

const nowMs = Date.parse('2026-11-21T14:03:00.000Z');
const viewer = { nowMs, timeZone: 'UTC' };

const verdict: Verdict = {
  state: 'failing',
  kind: 'lastRunFailed',
  words: 'Last run failed {ago:2026-11-21T02:00:00.000Z}: exit code 137, OOMKilled',
  cause: 'Killed at 512 Mi in 3 attempts',
  change: null,
  logLine: null,
  step: { action: 'copyPatch', words: 'Raise the memory limit of container backup.', command: null, href: null },
  since: '2026-11-21T02:00:00.000Z',
  holds: [],
  told: null,
  findings: [],
  revision: '7',
};

describe('instants in a sentence', () => {
  const rows: readonly (readonly [words: string, timeZone: string, text: string])[] = [
    ['No success for {age:2026-11-20T12:03:00.000Z} (limit 25 h)', 'UTC', 'No success for 26 h (limit 25 h)'],
    ['No success for {age:2026-11-18T18:03:00.000Z} (limit 25 h)', 'UTC', 'No success for 68 h (limit 25 h)'],
    ['Suspended for {age:2026-11-12T06:00:00.000Z} (limit 7 d)', 'UTC', 'Suspended for 9 d (limit 7 d)'],
    ['No success for {age:2026-11-20T12:00:00.000Z} (limit 1 d)', 'UTC', 'No success for 1 d 2 h (limit 1 d)'],
    ['Running for {age:2026-11-21T11:33:00.000Z} (limit 45 min)', 'UTC', 'Running for 2 h 30 min (limit 45 min)'],
    ['Running for {age:2026-11-21T14:02:40.000Z} (limit 1 min)', 'UTC', 'Running for 20 s (limit 1 min)'],
    [
      'Running for {age:2026-11-21T11:33:00.000Z} (limit 1 h 40 min)',
      'UTC',
      'Running for 2 h 30 min (limit 1 h 40 min)',
    ],
    ['No success for {age:2026-11-18T18:03:00.000Z}', 'UTC', 'No success for 2 d 20 h'],
    ['Failed {ago:2026-11-21T13:58:48.000Z}', 'UTC', 'Failed 4 min 12 s ago'],
    ['Failed {ago:2026-11-21T14:03:00.000Z}', 'UTC', 'Failed now'],
    ['Runs {in:2026-11-21T20:15:00.000Z}', 'UTC', 'Runs in 6 h 12 min'],
    ['Run of {at:2026-11-21T02:00:00.000Z} did not start', 'UTC', 'Run of 02:00 did not start'],
    ['Run of {at:2026-11-21T02:00:00.000Z} did not start', 'Europe/Zurich', 'Run of 03:00 did not start'],
    ['since {at:2026-11-20T23:30:00.000Z}', 'UTC', 'since 2026-11-20 23:30'],
    ['since {at:2026-11-20T23:30:00.000Z}', 'Europe/Zurich', 'since 00:30'],
    ['a {brace}, {at:nonsense} and {age:} stay', 'UTC', 'a {brace}, {at:nonsense} and {age:} stay'],
  ];
  for (const [words, timeZone, text] of rows)
    test(`read "${text}" in ${timeZone}`, () => assert.equal(printWords(words, { nowMs, timeZone }), text));
});

describe('a verdict', () => {
  test('says a finding once, though the next step is to change the rule that it is about', () => {
    const finding = { code: 'LimitTooShort', words: 'The limit is too short', href: '/monitors/prod/dr' };
    const words = 'Change the rule: The limit is too short';
    const found: Verdict = {
      ...verdict,
      findings: [finding],
      step: { action: 'openRules', words, command: null, href: null },
    };
    assert.equal(whyText(found, viewer), 'Killed at 512 Mi in 3 attempts.');
    const change = 'since image 1.8 → 1.9';
    assert.equal(whyText({ ...found, change }, viewer), 'Killed at 512 Mi in 3 attempts, since image 1.8 → 1.9.');
    assert.equal(whyText({ ...found, cause: null, change }, viewer), 'Since image 1.8 → 1.9.');
    assert.deepEqual(findingNotes(found, viewer), [{ text: finding.words, href: finding.href }]);
  });

  test('has the value of a rule on the link to it, and that of a patch on its own button alone', () => {
    const step = { words: 'Set it', command: 'kubectl patch', href: '/there' };
    const link = (action: 'openRules' | 'copyPatch', label: string) =>
      stepLink({ ...verdict, step: { ...step, action, label } }, '/here');
    assert.deepEqual(link('openRules', 'Set 8 d in rules'), { word: 'Set 8 d in rules', href: '/there' });
    assert.deepEqual(link('copyPatch', 'Copy patch: 1 Gi'), { word: 'Open the run', href: '/there' });
  });

  test('is shown by its state and its own words', () => {
    assert.deepEqual(verdictMark(verdict), { word: 'Failing', shape: 'hollow', tone: 'warn' });
    assert.equal(verdictText(verdict, viewer), 'Last run failed 12 h 3 min ago: exit code 137, OOMKilled');
    assert.equal(
      whyText(verdict, viewer),
      'Killed at 512 Mi in 3 attempts. Raise the memory limit of container backup.',
    );
  });

  test('says its cause once, and no step that the link beside it names', () => {
    const failed = { ...verdict, words: 'Last run failed: exit code 1, Error (3rd failure in a row)' };
    const step = { action: 'openRun', command: null, href: '/cronjobs/prod/backup/runs/backup-1' } as const;
    const open = { ...step, words: 'Open the run' };
    assert.equal(whyText({ ...failed, cause: 'exit code 1, Error', step: open }, viewer), '');
    assert.equal(
      whyText({ ...failed, words: 'No success for 26 h', cause: 'exit code 1', step: open }, viewer),
      'Exit code 1.',
    );
    const cause = 'Secret db-password is missing';
    assert.equal(
      whyText({ ...failed, cause, step: { ...step, words: `Open the run: ${cause}` } }, viewer),
      `${cause}.`,
    );
    const words = 'Not started for 2 h: ImagePullBackOff';
    const waits = { ...step, words: 'Open the run: it waits (ImagePullBackOff)' };
    assert.equal(whyText({ ...verdict, words, cause: null, step: waits }, viewer), '');
    const replaced = { code: 'RunsLongerThanPeriod', words: 'Runs replace each other', href: null };
    const forbid = { ...step, words: `Set concurrencyPolicy to Forbid: ${replaced.words}` };
    const ofFinding = { ...verdict, words, cause: null, step: forbid, findings: [replaced] };
    assert.equal(whyText(ofFinding, viewer), 'Set concurrencyPolicy to Forbid.', 'the finding has its own line');
  });

  test('is explained in one line by a finding about its rule, else by cause and step', () => {
    assert.equal(
      explanationText(verdict, viewer),
      'Killed at 512 Mi in 3 attempts. Raise the memory limit of container backup.',
    );
    const finding = { code: 'limit', words: 'The limit is shorter than its schedule (168 h)', href: null };
    assert.equal(explanationText({ ...verdict, findings: [finding] }, viewer), finding.words);
    assert.equal(explanationText({ ...verdict, cause: null, step: null }, viewer), '');
    assert.equal(explanationText(undefined, viewer), '');
  });

  test('that an answer does not bring is not known, and never well', () => {
    assert.deepEqual(verdictMark(undefined), { word: 'Not known', shape: 'question', tone: 'off' });
    assert.equal(verdictText(undefined, viewer), 'Not known');
    assert.equal(whyText(undefined, viewer), '');
    assert.deepEqual(
      [edgeOf(verdictMark(undefined)), toldOf(undefined, viewer), findingNotes(undefined, viewer)],
      [undefined, undefined, []],
    );
  });

  test('marks the edge of a row where something is wrong, and nowhere else', () => {
    const states = ['critical', 'warning', 'failing', 'unknown', 'suspended', 'healthy'] as const;
    assert.deepEqual(
      states.map((state) => edgeOf(verdictMark({ ...verdict, state }))),
      ['crit', 'warn', 'warn', undefined, undefined, undefined],
    );
  });

  test('shows each hold with its end in the zone of the view', () => {
    const hold = {
      kind: 'silenced',
      by: 'jonas',
      until: '2026-11-21T18:00:00.000Z',
      words: 'Silenced by jonas until {at:2026-11-21T18:00:00.000Z}',
    } as const;
    assert.deepEqual(holdMark(hold, { nowMs, timeZone: 'Europe/Zurich' }), {
      word: 'Silenced by jonas until 19:00',
      shape: 'bar',
      tone: 'held',
    });
  });

  test('says who was told, and which channels do not take its severity', () => {
    const told: Told = { state: 'none', reason: 'severityNotRouted', word: null, until: null, channels: [] };
    assert.equal(toldOf({ ...verdict, state: 'critical', told }, viewer)?.word, 'No channel takes critical');
    assert.equal(toldOf(verdict, viewer), undefined);
  });

  test('names what the check of the rules found, with the way to it', () => {
    const words = 'The limit is shorter than its schedule (168 h): it fires every week';
    const findings = [{ code: 'limitShorterThanSchedule', words, href: '/monitors/prod/all' }];
    assert.deepEqual(findingNotes({ ...verdict, findings }, viewer), [{ text: words, href: '/monitors/prod/all' }]);
  });
});

test('counts of states are told worst first, without the empty ones', () => {
  const states = { critical: 2, warning: 0, failing: 1, unknown: 4, suspended: 0, healthy: 30 };
  assert.equal(statesText(states, wrongStates), '2 critical, 1 failing');
  assert.equal(statesText({ ...states, critical: 0, failing: 0 }, wrongStates), '');
});
