import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type MonitorPreview,
  type MonitorPreviewInput,
  type SuggestedLimit,
  type Json,
} from '@cronjob-monitor/shared/contract';

import { goText, secondsOfText, shareOf, stopsOf } from './durations.ts';
import { RuleLabState } from './rule-lab.svelte.ts';
import { readField, ruleFields, sourceOf, type RuleField } from './rule-fields.ts';

const answer: MonitorPreview = {
  valid: true,
  findings: [],
  cronJobs: { matched: 1, withHistory: 1, items: [], omitted: 0 },
  from: '2026-10-22T14:03:00.000Z',
  to: '2026-11-21T14:03:00.000Z',
  alerts: { total: 0, byType: {}, items: [], omitted: 0 },
  words: 'These rules raise no alert in 30 days',
  truth: { true: 0, false: 0, missed: 0 },
  now: null,
  gone: [],
  missed: [],
  lanes: [],
  histograms: [],
  patch: null,
  blindSeconds: 0,
  truncated: false,
};

const inForce = {
  deadManSwitch: { enabled: true, maxTimeSinceLastSuccess: '25h' },
  sla: { enabled: true, minSuccessRate: 95, windowDays: 7, maxDuration: '25m' },
};

function field(name: string): RuleField {
  const found = ruleFields.find((one) => one.name === name);
  assert.ok(found, name);
  return found;
}

/** A lab whose questions are answered by hand, and whose timer is wound by hand. */
function lab(spec: Json = inForce, suggestions: readonly SuggestedLimit[] = []) {
  const asked: MonitorPreviewInput[] = [];
  const answers: PromiseWithResolvers<MonitorPreview>[] = [];
  let due: (() => void) | undefined;
  const waits: number[] = [];
  const state = new RuleLabState({ namespace: 'data', name: 'backups' }, spec, {
    ask: (input) => {
      asked.push(input);
      const next = Promise.withResolvers<MonitorPreview>();
      answers.push(next);
      return next.promise;
    },
    suggest: () => Promise.resolve({ items: suggestions }),
    after: (ms, run) => {
      waits.push(ms);
      due = run;
      return () => (due = undefined);
    },
  });
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    state,
    asked,
    waits,
    wind: () => due?.(),
    reply: async (index: number, changes: Partial<MonitorPreview> = {}) => {
      answers[index]?.resolve({ ...answer, ...changes });
      await settle();
    },
    refuse: async (index: number) => {
      answers[index]?.reject(new Error('no'));
      await settle();
    },
  };
}

describe('the rule lab', () => {
  test('asks 250 ms after the last change, for 30 days of the monitor that it would replace', async () => {
    const { state, asked, waits, wind, reply } = lab();
    state.start();
    await reply(0);
    state.set(field('Takes at most'), '1h');
    state.set(field('Takes at most'), '1h50m');
    assert.equal(asked.length, 1, 'not yet');
    assert.deepEqual(waits, [250, 250]);
    wind();
    assert.deepEqual(asked[1], {
      namespace: 'data',
      name: 'backups',
      spec: { ...inForce, sla: { ...inForce.sla, maxDuration: '1h50m' } },
      days: 30,
    });
    assert.equal(state.changed, 1);
  });

  test('dims the old drawing until the newest question is answered, and leaves an older answer that comes late', async () => {
    const { state, wind, reply } = lab();
    state.start();
    await reply(0, { words: 'first' });
    assert.deepEqual([state.isOld, state.drawn?.words], [false, 'first']);
    state.set(field('Takes at most'), '1h');
    wind();
    state.set(field('Takes at most'), '2h');
    wind();
    await reply(2, { words: 'third' });
    await reply(1, { words: 'second' });
    assert.deepEqual([state.isOld, state.drawn?.words], [false, 'third']);
  });

  test('keeps the last drawing when a field cannot be read or the service refuses it, and says why', async () => {
    const { state, asked, wind, reply, refuse } = lab();
    state.start();
    await reply(0, { words: 'kept' });
    state.type(field('Takes at most'), 'abc');
    assert.match(state.problemOf(field('Takes at most')) ?? '', /^Write a duration/);
    assert.equal(state.textOf(field('Takes at most')), 'abc');
    wind();
    assert.equal(asked.length, 1, 'what cannot be read is not tried');
    state.type(field('Takes at most'), '1 h');
    wind();
    const finding = { level: 'error', code: 'schema', path: 'spec.sla.maxDuration', message: 'is too long' } as const;
    await reply(1, { valid: false, words: 'refused', findings: [finding] });
    assert.equal(state.problemOf(field('Takes at most')), 'is too long');
    assert.deepEqual([state.drawn?.words, state.isOld, state.others], ['kept', true, []]);
    state.set(field('Takes at most'), '2h');
    wind();
    await refuse(2);
    assert.deepEqual(
      [state.drawn?.words, state.failure],
      ['kept', 'Could not try the rules: the server does not answer'],
    );
  });

  test('takes the whole spec as JSON too, and goes back to the rules in force', () => {
    const { state } = lab();
    state.typeJson('{"sla": {"minSuccessRate": 99}}');
    assert.equal(state.textOf(field('Success rate at least')), '99 %');
    state.typeJson('{"sla": ');
    assert.match(state.jsonProblem ?? '', /JSON object/);
    assert.deepEqual(state.spec, { sla: { minSuccessRate: 99 } });
    state.reset();
    assert.deepEqual([state.spec, state.changed, state.jsonProblem], [inForce, 0, undefined]);
  });

  test('a rule that is switched on again has the value that is in force', () => {
    const { state } = lab();
    for (const name of ['Takes at most', 'Success rate at least', 'No success for']) {
      state.turn(field(name), false);
      assert.equal(field(name).isOn(state.spec), false, name);
      state.turn(field(name), true);
      assert.equal(field(name).isOn(state.spec), true, name);
    }
    assert.equal(state.changed, 0);
  });
});

describe('limits from history', () => {
  const why = 'p99 of 19 runs is 18 min 17 s';
  const items = [{ path: 'spec.sla.maxDuration', now: '25m', value: '28m', why, runs: 19 } as const];

  test('fill the form with a reason at each field, until the field is changed', async () => {
    const { state } = lab(inForce, items);
    await state.suggest();
    assert.equal(state.textOf(field('Takes at most')), '28 min');
    assert.equal(state.whyOf(field('Takes at most')), why);
    assert.equal(state.changed, 1);
    state.set(field('Takes at most'), '1h');
    assert.equal(state.whyOf(field('Takes at most')), undefined);
  });

  test('are not made of too few runs, which is said', async () => {
    const { state } = lab();
    await state.suggest();
    assert.deepEqual([state.changed, state.failure], [0, 'Too few runs are stored to suggest a limit']);
  });
});

describe('a rule of the form', () => {
  test('says where its value comes from', () => {
    const spec = { ...inForce, jobFailed: { failureThreshold: 1 } };
    const wished = { ...spec, sla: { ...inForce.sla, maxDuration: '110m' } };
    assert.deepEqual(sourceOf(field('Takes at most'), spec, wished), { word: 'was 25 min', isChanged: true });
    assert.equal(sourceOf(field('No success for'), spec, wished).word, 'as set');
    assert.equal(sourceOf(field('Failed runs in a row'), spec, wished).word, 'default');
    assert.equal(sourceOf(field('Finished by'), spec, wished).word, 'off');
  });

  test('the schedule and a fixed limit of the dead-man switch take turns', () => {
    const auto = field('No success for each schedule, plus');
    const spec = auto.switchTo(inForce, true);
    assert.deepEqual(spec['deadManSwitch'], { enabled: true, autoFromSchedule: { enabled: true } });
    assert.deepEqual([auto.isOn(spec), field('No success for').isOn(spec)], [true, false]);
    const back = field('No success for').switchTo(spec, true);
    assert.deepEqual([auto.isOn(back), field('No success for').isOn(back)], [false, true]);
  });

  test('one target of an SLA that was off does not bring the others along', () => {
    const spec = field('Takes at most').switchTo({}, true);
    assert.deepEqual(spec['sla'], {
      enabled: true,
      minSuccessRate: 0,
      durationRegressionThreshold: 0,
      maxDuration: '1h',
    });
    assert.equal(field('Success rate at least').isOn(spec), false);
  });

  test('reads what people write, and says what it asks for', () => {
    assert.deepEqual(readField('duration', '1 h 50 min'), { value: '1h50m' });
    assert.deepEqual(readField('duration', '2d'), { value: '48h' });
    assert.deepEqual(readField('percent', '99.5 %'), { value: '99.5' });
    assert.deepEqual(readField('clock', '06:00'), { value: '06:00' });
    for (const [kind, text] of [
      ['duration', ''],
      ['duration', '0'],
      ['duration', 'soon'],
      ['percent', '101'],
      ['percent', ''],
      ['count', '1.5'],
      ['count', '0'],
      ['clock', '24:00'],
    ] as const)
      assert.ok('problem' in readField(kind, text), `${kind} ${text}`);
  });
});

test('a value is written where it stands, in the order of the spec', () => {
  const spec = field('Takes at most').write(inForce, '1h');
  assert.deepEqual(Object.keys(spec), ['deadManSwitch', 'sla']);
  assert.deepEqual(Object.keys(spec['sla'] ?? {}), ['enabled', 'minSuccessRate', 'windowDays', 'maxDuration']);
  assert.deepEqual(field('Takes at most').switchTo(inForce, false)['sla'], {
    enabled: true,
    minSuccessRate: 95,
    windowDays: 7,
  });
});

test('a slider of durations has round stops around what it judges, and finds its place among them', () => {
  const stops = stopsOf('seconds', [17, 960, 6_480]);
  assert.deepEqual(stops.slice(0, 4), [15, 20, 25, 30]);
  assert.ok((stops.at(-1) ?? 0) >= 6_480 * 1.5);
  assert.ok(stops.every((stop, index) => index === 0 || stop > (stops[index - 1] ?? 0)));
  assert.deepEqual([shareOf(1, stops), shareOf(1e9, stops)], [0, 1]);
  assert.equal(shareOf(15, [10, 20, 30]), 0.25);
  assert.equal(secondsOfText(goText(5_461)), 5_461);
});
