import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { symptomCauseOf, symptomCauses, type Problem, type SymptomCause } from '@cronjob-monitor/shared/domain';
import { createProcessMetrics, ProblemList, watchSymptoms } from '@cronjob-monitor/shared/process';
import { FakeClock, RecordingLogger } from '@cronjob-monitor/shared/testing';
import { findHelm } from './helm.ts';
import { render, theOne } from './render.ts';
import { valueSets } from './value-sets.ts';

const helm = await findHelm();
const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;
const skip =
  'skipped' in helm ? helm.skipped : !hasPromtool && 'promtool is not installed (apt-get install prometheus)';
const path = 'path' in helm ? helm.path : ''; // else the suite is skipped
const causes = Object.keys(symptomCauses) as SymptomCause[];

interface Rule {
  readonly alert: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The series that a process shows while one thing, or nothing, is wrong with it; each lasts ten minutes. */
async function seriesOf(cause?: SymptomCause): Promise<{ readonly series: string; readonly values: string }[]> {
  const clock = new FakeClock();
  const metrics = createProcessMetrics({ entryPoint: 'controller', version: '1', clock });
  const problems = new ProblemList({ clock, logger: new RecordingLogger() });
  watchSymptoms({ metrics, problems, intervalsMs: {}, clock }, AbortSignal.abort());
  const wrong: Problem[] = cause === undefined ? [] : [{ key: cause, cause, sentence: cause, blocks: false }];
  problems.add(() => wrong);
  const samples = await metrics.read('cronjob_monitor_symptom');
  return [
    ...samples.map(({ labels, value }) => ({
      series: `cronjob_monitor_symptom{namespace="n",job="j",pod="p",symptom="${labels['symptom']}",cause="${labels['cause']}"}`,
      values: `${value}x10`,
    })),
    { series: 'cronjob_monitor_leader{namespace="n",job="j",pod="p"}', values: '1x10' },
  ];
}

describe('Prometheus with the rules of the chart', { skip }, () => {
  const rules: Rule[] = skip
    ? []
    : theOne(render(path, valueSets['split with everything'] ?? {}), 'PrometheusRule')['spec'].groups.flatMap(
        (group: { rules: Rule[] }) => group.rules,
      );

  /** What fires after five minutes: one alert of one rule, or none. */
  const expectations = (fires?: { symptom: string; cause: string; severity: string; from: object }) =>
    rules.map(({ alert, annotations }) => ({
      eval_time: '5m',
      alertname: alert,
      exp_alerts:
        fires === undefined || alert !== `CronJobMonitor${fires.symptom}`
          ? []
          : [
              {
                exp_labels: { ...fires.from, cause: fires.cause, severity: fires.severity },
                exp_annotations: Object.fromEntries(
                  Object.entries(annotations).map(([key, text]) => [
                    key,
                    text.replaceAll('{{ $labels.cause }}', fires.cause),
                  ]),
                ),
              },
            ],
    }));

  const promtool = (tests: readonly object[]): string => {
    const folder = mkdtempSync(join(tmpdir(), 'cronjob-monitor-rules-'));
    try {
      writeFileSync(join(folder, 'rules.yaml'), JSON.stringify({ groups: [{ name: 'health', rules }] }));
      const file = { rule_files: ['rules.yaml'], evaluation_interval: '30s', tests };
      writeFileSync(join(folder, 'tests.yaml'), JSON.stringify(file));
      const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'tests.yaml'], {
        cwd: folder,
        encoding: 'utf8',
      });
      return status === 0 ? '' : stdout + stderr;
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  test('fires for each cause the rule of its symptom and no other, as severe as the cause is', async () => {
    const from = { namespace: 'n', job: 'j' };
    const tests = await Promise.all(
      causes.map(async (cause) => {
        const { symptom, isCritical } = symptomCauseOf(cause);
        const fires = { symptom, cause, severity: isCritical ? 'critical' : 'warning', from };
        return {
          name: cause,
          interval: '1m',
          input_series: await seriesOf(cause),
          alert_rule_test: expectations(fires),
        };
      }),
    );
    assert.equal(promtool(tests), '');
  });

  test('fires nothing while all is well, and for two minutes of trouble', async () => {
    const passing = (await seriesOf('databaseAway')).map(({ series, values }) => ({
      series,
      values: values.startsWith('2') ? '0x1 2x1 0x10' : values,
    }));
    assert.equal(
      promtool([
        { interval: '1m', input_series: await seriesOf(), alert_rule_test: expectations() },
        { interval: '1m', input_series: passing, alert_rule_test: expectations() },
      ]),
      '',
    );
  });

  test('fires that the service is not alive while no controller is there to say so', () => {
    const fires = { symptom: 'NotAlive', cause: 'noLeader', severity: 'critical', from: {} };
    assert.equal(promtool([{ interval: '1m', input_series: [], alert_rule_test: expectations(fires) }]), '');
    const unexpected = promtool([{ interval: '1m', input_series: [], alert_rule_test: expectations() }]);
    assert.match(unexpected, /CronJobMonitorNotAlive/, 'a test of rules that nothing fails proves nothing');
  });
});
