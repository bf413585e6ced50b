import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { alertingLines } from './alerting-lines.ts';
import { limitText, secondsOfGo } from './duration.ts';
import { maintenanceLines } from './maintenance.ts';
import { ruleLines } from './rules.ts';
import { isPlain, loadScheduleWords } from './schedule-words.ts';
import { selectorText } from './selector.ts';
import { toYaml } from './yaml.ts';

const rulesOf = (spec: unknown): Record<string, string> =>
  Object.fromEntries(ruleLines(spec).map(({ name, says, from }) => [name, `${says} [${from}]`]));

describe('the rules of a monitor', () => {
  test('are written where they are absent: as their default, or as off', () => {
    assert.deepEqual(rulesOf({}), {
      'Expected CronJobs': 'off [off]',
      'Depends on': 'none [off]',
      "Dead-man's switch": 'off [off]',
      'Failed runs': '1 in a row [default]',
      'Missed runs': '1 in a row, 2 min late [default]',
      'Success rate': 'off [off]',
      Duration: 'off [off]',
      'Finish by': 'off [off]',
      Output: 'off [off]',
      Regression: 'off [off]',
      Stuck: 'not started 10 min, in vain 2 min, ending 10 min, running 5 × p99 [default]',
      Suspended: 'off; monitoring pauses while suspended [off]',
    });
  });

  test('tell their limits in words', () => {
    const told = rulesOf({
      deadManSwitch: { enabled: true, maxTimeSinceLastSuccess: '25h' },
      jobFailed: { failureThreshold: 3, recoveryThreshold: 2, failuresOfLast: { failures: 5, runs: 10 } },
      missedSchedule: { grace: '5m', threshold: 2, skipWarnAfter: 3 },
      sla: {
        minSuccessRate: 97.5,
        windowDays: 14,
        minRuns: 5,
        maxDuration: '45m',
        minDuration: '30s',
        finishBy: { time: '06:00', timezone: 'Europe/Berlin' },
        durationRegressionThreshold: 60,
      },
      output: {
        assertions: [
          { name: 'rows', fact: 'rows', min: 1, required: true },
          { name: 'drop', fact: 'bytes', max: 5_000_000, dropBelow: { percent: 50, runs: 7 } },
        ],
      },
      stuckJobs: { overrunningAfter: '2h' },
      expects: { names: ['a', 'prod/b'], seen: true, grace: '5m' },
      dependsOn: ['load', 'etl/extract'],
      suspendedHandling: { pauseMonitoring: false, alertIfSuspendedFor: '1w' },
    });
    assert.deepEqual(told, {
      'Expected CronJobs': '2 names, and every one that succeeded; gone for 5 min [set]',
      'Depends on': 'load, etl/extract [set]',
      "Dead-man's switch": 'no success for 25 h [set]',
      'Failed runs': '3 in a row, or 5 of the last 10; resolved by 2 successes in a row [set]',
      'Missed runs': '2 in a row, 5 min late; 3 skipped in a row [set]',
      'Success rate': '97.5 % over 14 days, from 5 runs on [set]',
      Duration: 'at most 45 min; at least 30 s [set]',
      'Finish by': '06:00 Europe/Berlin [set]',
      Output: 'rows at least 1, required; bytes at most 5,000,000, at least 50 % of the median of 7 [set]',
      Regression: '60 % above the p95 of 14 days [set]',
      Stuck: 'not started 10 min, in vain 2 min, ending 10 min, running 2 h [set]',
      Suspended: 'for 7 d; monitored while suspended [set]',
    });
  });

  test('say when a CronJob without any success is left alone', () => {
    const deadManSwitch = { maxTimeSinceLastSuccess: '25h', fromCreation: false };
    assert.equal(
      rulesOf({ deadManSwitch })["Dead-man's switch"],
      'no success for 25 h; only after a first success [set]',
    );
  });

  test('that are switched off are off, with all that depends on them', () => {
    const told = rulesOf({ jobFailed: { enabled: false }, sla: { enabled: false, maxDuration: '1h' } });
    assert.equal(told['Failed runs'], 'off [off]');
    assert.equal(told['Duration'], 'off [off]');
    assert.equal(told['Regression'], 'off [off]');
  });

  test('of another form than expected count as absent', () => {
    assert.equal(rulesOf({ jobFailed: 'x', sla: [], deadManSwitch: 7 })['Failed runs'], '1 in a row [default]');
    assert.equal(ruleLines(null).length, 12);
  });
});

describe('a selector in words', () => {
  const rows: readonly (readonly [spec: unknown, text: string])[] = [
    [{}, 'every CronJob of namespace data'],
    [{ selector: { matchLabels: { tier: 'backup' } } }, 'namespace data, label tier=backup'],
    [{ selector: { allNamespaces: true } }, 'every CronJob of all namespaces'],
    [
      { selector: { allNamespaces: true, fallback: true } },
      'every CronJob of all namespaces, that no other monitor selects',
    ],
    [{ selector: { namespaces: ['a', 'b'], matchNames: ['x'] } }, 'namespaces a and b, named x'],
    [
      { selector: { matchExpressions: [{ key: 'stage', operator: 'NotIn', values: ['canary', 'test'] }] } },
      'namespace data, label stage none of canary and test',
    ],
    [
      {
        selector: {
          namespaceSelector: { matchLabels: { team: 'x' } },
          matchExpressions: [{ key: 'a', operator: 'Exists' }],
        },
      },
      'namespaces with label team=x, with label a',
    ],
  ];
  for (const [spec, text] of rows) test(`says "${text}"`, () => assert.equal(selectorText(spec, 'data'), text));
});

test('who is told, and how, is written even where nothing is set', () => {
  const told = Object.fromEntries(alertingLines({ alerting: {} }).map(({ name, says }) => [name, says]));
  assert.deepEqual(told, {
    Delay: 'none',
    Duplicates: 'held back as the service sets it',
    Reminder: 'every 24 h',
    Overrides: 'none: the default severities hold',
    Context: '50 log lines, events, pod and suggested fix',
    Patterns: 'the built-in ones',
  });
  assert.deepEqual(alertingLines({}), []);
  assert.deepEqual(alertingLines({ alerting: { enabled: false } }), []);
});

test('a maintenance window says its zone, its length and what it does', () => {
  const [window] = maintenanceLines({
    maintenanceWindows: [
      { name: 'storage', schedule: '0 1 * * 0', duration: '3h', timezone: 'Europe/Berlin', excludeFromSla: true },
    ],
  });
  assert.deepEqual(window, {
    name: 'storage',
    schedule: '0 1 * * 0',
    says: 'Europe/Berlin, for 3 h: alerts wait; runs do not count for SLA',
  });
});

describe('durations as resources write them', () => {
  const rows = [
    ['25h', 90_000, '25 h'],
    ['1h30m', 5_400, '1 h 30 min'],
    ['2d', 172_800, '2 d'],
    ['1w', 604_800, '7 d'],
    ['1.5h', 5_400, '1 h 30 min'],
    ['500ms', 0.5, '500 ms'],
    ['0', 0, '0 s'],
  ] as const;
  for (const [text, seconds, words] of rows) {
    test(`${text} is ${words}`, () => {
      assert.equal(secondsOfGo(text), seconds);
      assert.equal(limitText(text), words);
    });
  }
  test('anything else is shown as it is written', () => {
    assert.equal(secondsOfGo('soon'), undefined);
    assert.equal(limitText('auto'), 'auto');
  });
});

describe('the words of a schedule', () => {
  test('come from the library where both understand it alike', async () => {
    const tell = await loadScheduleWords();
    assert.equal(tell('0 2 * * *'), 'At 02:00');
    assert.equal(tell('*/5 * * * *'), 'Every 5 minutes');
    assert.equal(tell('30 2 * * MON-FRI'), 'At 02:30, Monday through Friday');
  });

  test('are left out for what one of them reads otherwise', async () => {
    const tell = await loadScheduleWords();
    for (const schedule of [
      '@every 90s',
      '@daily',
      'TZ=Europe/Zurich 0 2 * * *',
      '0 0 L * *',
      '0 0 * * 1#2',
      '0 0 0 1 1 *',
      '61 * * * *',
      '0 0 */2 * 1',
    ]) {
      assert.equal(tell(schedule), undefined, schedule);
    }
  });

  test('a stepped star beside another restriction of the day is not plain', () => {
    assert.equal(isPlain('0 0 */2 * *'), true);
    assert.equal(isPlain('0 0 */2 * 1'), false);
    assert.equal(isPlain('0 0 1 * */2'), false);
  });
});

test('a manifest reads as YAML, and text that would be read as something else is quoted', () => {
  const yaml = toYaml({
    metadata: { name: 'all', labels: {} },
    spec: {
      maxTimeSinceLastSuccess: '25h',
      minSuccessRate: 97.5,
      enabled: true,
      time: '06:00',
      schedule: '0 1 * * 0',
      no: 'no',
      lists: [],
      channelRefs: [{ name: 'a', severities: ['critical'] }, { name: 'b' }],
      number: '1e3',
    },
  });
  assert.equal(
    yaml,
    `metadata:
  name: all
  labels: {}
spec:
  maxTimeSinceLastSuccess: 25h
  minSuccessRate: 97.5
  enabled: true
  time: "06:00"
  schedule: "0 1 * * 0"
  "no": "no"
  lists: []
  channelRefs:
    - name: a
      severities:
        - critical
    - name: b
  number: "1e3"
`,
  );
});
