import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { testsNeeding } from '@cronjob-monitor/shared/testing';
import { openBeside } from '../faults/checker/index.ts';
import { startBench } from '../faults/harness/bench.ts';
import { Incidents } from '../faults/harness/incidents.ts';
import { tellsLoopback } from '../faults/harness/receiver.ts';
import { buildBinary } from '../realcluster/build-binary.ts';
import { HttpSink } from '../sinks/index.ts';

const binary = await buildBinary();
const needing = testsNeeding('Go', 'skipped' in binary ? binary.skipped : undefined);
const path = 'path' in binary ? binary.path : '';

function problemsOf(metrics: string): string {
  const { status, stdout, stderr } = spawnSync(path, ['check-metrics'], { input: metrics, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

needing.test('a linter of metrics finds what is wrong with them', () => {
  const metrics = '# HELP x_total Something.\n# TYPE x_total gauge\nx_total 1\n';
  assert.equal(problemsOf(metrics), 'x_total non-counter metrics should not have "_total" suffix');
});

needing.test('it finds nothing wrong with ours, of both tiers, once runs were recorded and alerts told', async (t) => {
  const sink = await HttpSink.start();
  t.after(() => sink.stop());
  const bench = await startBench({ controllers: false, monitor: { selector: { matchNames: ['nobody'] } } });
  t.after(() => bench.close());
  const storage = bench.sqlite();
  const service = await bench.prepare({ storage, config: tellsLoopback });
  await service.startReady();
  const store = openBeside(storage);
  t.after(() => store.close());
  const incidents = await Incidents.prepare({ sim: bench.sim, sink, store }, 8);
  incidents.begin(8);
  await incidents.over();
  assert.equal((await fetch(`${service.api}/api/v1/stats`)).status, 200);
  const metrics = await (await fetch(`${service.metrics}/metrics`)).text();
  assert.match(metrics, /^cronjob_monitor_executions_total\{.*status="failure".*\} 1$/m);
  assert.match(metrics, /^cronjob_monitor_deliveries_total\{/m);
  assert.match(metrics, /^cronjob_monitor_api_request_duration_seconds_count\{/m);
  assert.equal(problemsOf(metrics), '');
});
