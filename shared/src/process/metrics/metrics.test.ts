import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { Counter, Gauge, Histogram } from 'prom-client';
import { FakeClock } from '../../testing/index.ts';
import { systemClock } from '../clock.ts';
import { EventLoopDelay, GcPauses } from './index.ts';
import { type Family, renderFamilies } from './render.ts';
import { createProcessMetrics } from './index.ts';

async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

function aProcess(clock = new FakeClock()) {
  return createProcessMetrics({ entryPoint: 'controller', version: '0.1.0', clock });
}

test('the runtime is told under the names of the specification', async () => {
  const text = await textOf(aProcess().render());
  for (const [name, type] of Object.entries({
    go_goroutines: 'gauge',
    go_memstats_alloc_bytes: 'gauge',
    go_memstats_heap_inuse_bytes: 'gauge',
    go_gc_duration_seconds: 'summary',
    process_cpu_seconds_total: 'counter',
    process_resident_memory_bytes: 'gauge',
    process_open_fds: 'gauge',
    process_start_time_seconds: 'gauge',
    cronjob_monitor_build_info: 'gauge',
    cronjob_monitor_event_loop_delay_seconds: 'gauge',
    cronjob_monitor_certificate_expiry_timestamp_seconds: 'gauge',
    cronjob_monitor_scrape_seconds: 'gauge',
  })) {
    assert.match(text, new RegExp(`^# HELP ${name} .+\n# TYPE ${name} ${type}$`, 'm'), name);
  }
  assert.match(text, /^cronjob_monitor_build_info\{version="0\.1\.0",entry_point="controller"\} 1$/m);
  const value = (name: string) => Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
  const { heapUsed, heapTotal, rss } = process.memoryUsage();
  assert.ok(Math.abs(value('go_memstats_alloc_bytes') / heapUsed - 1) < 0.5);
  assert.ok(Math.abs(value('go_memstats_heap_inuse_bytes') / heapTotal - 1) < 0.5);
  assert.ok(Math.abs(value('process_resident_memory_bytes') / rss - 1) < 0.5);
  assert.ok(value('process_open_fds') > 2);
  assert.ok(value('process_cpu_seconds_total') > 0);
});

test('a process started when it started, whatever the clocks do since', async () => {
  const clock = new FakeClock(Date.now());
  const metrics = aProcess(clock);
  const started = async () => Number(/^process_start_time_seconds (.+)$/m.exec(await textOf(metrics.render()))?.[1]);
  const first = await started();
  assert.ok(Math.abs(first - (Date.now() / 1000 - process.uptime())) < 1);
  clock.stepWall(3_600_000);
  assert.equal(await started(), first);
});

test('figures of the listener are absent until there are any', async () => {
  const metrics = aProcess();
  assert.doesNotMatch(await textOf(metrics.render()), /^cronjob_monitor_(scrape|certificate)\S* /m);
  metrics.scraped(0.125);
  metrics.certificateExpires(1_800_000_000_000);
  const text = await textOf(metrics.render());
  assert.match(text, /^cronjob_monitor_scrape_seconds 0\.125$/m);
  assert.match(text, /^cronjob_monitor_certificate_expiry_timestamp_seconds 1800000000$/m);
});

test('what is registered is told in the text format, families without series too', async () => {
  const metrics = aProcess();
  const registers = [metrics.registry];
  const runs = new Counter({
    name: 'runs_total',
    help: 'Runs \\ \n ended.',
    labelNames: ['cronjob', 'status'],
    registers,
  });
  runs.inc({ cronjob: 'a"\\\nb', status: 'ok' }, 2);
  runs.inc({ cronjob: 'c' });
  const idle = new Gauge({ name: 'idle', help: 'Idle.', labelNames: ['x'], registers });
  idle.reset();
  const seconds = new Histogram({ name: 'took_seconds', help: 'Took.', buckets: [0.1, 1], registers });
  seconds.observe(0.5);
  const text = await textOf(metrics.render());
  assert.ok(
    text.endsWith(
      [
        '# HELP runs_total Runs \\\\ \\n ended.',
        '# TYPE runs_total counter',
        'runs_total{cronjob="a\\"\\\\\\nb",status="ok"} 2',
        'runs_total{cronjob="c"} 1',
        '# HELP idle Idle.',
        '# TYPE idle gauge',
        '# HELP took_seconds Took.',
        '# TYPE took_seconds histogram',
        'took_seconds_bucket{le="0.1"} 0',
        'took_seconds_bucket{le="1"} 1',
        'took_seconds_bucket{le="+Inf"} 1',
        'took_seconds_sum 0.5',
        'took_seconds_count 1',
        '',
      ].join('\n'),
    ),
  );
});

test('values that are no ordinary numbers have their own words', async () => {
  const values = [NaN, Infinity, -Infinity, 1e21, 0].map((value) => ({ labels: {}, value }));
  const family: Family = { name: 'x', help: 'X.', type: 'gauge', values };
  assert.equal(
    await textOf(renderFamilies([family])),
    '# HELP x X.\n# TYPE x gauge\nx NaN\nx +Inf\nx -Inf\nx 1e+21\nx 0\n',
  );
});

test('the series of 10,000 CronJobs are told with under 200 ms of work, at most 50 ms of it at a time', async () => {
  const metrics = aProcess();
  const percentiles = ['avg', 'p50', 'p95', 'p99'];
  const gauge = (name: string, labelNames: string[]) =>
    new Gauge({ name, help: 'Help.', labelNames, registers: [metrics.registry] });
  const [rate, duration] = [
    gauge('rate', ['namespace', 'cronjob']),
    gauge('duration', ['namespace', 'cronjob', 'percentile']),
  ];
  const runs = gauge('runs', ['namespace', 'cronjob', 'status']);
  for (let index = 0; index < 10_000; index += 1) {
    const labels = { namespace: `namespace-${index % 50}`, cronjob: `cronjob-${index}` };
    rate.set(labels, index / 100);
    for (const percentile of percentiles) duration.set({ ...labels, percentile }, index / 7);
    for (const status of ['success', 'failure']) runs.set({ ...labels, status }, index);
  }
  await textOf(metrics.render()); // The lines are made once.

  const works: number[] = [];
  const longest: number[] = [];
  for (let scrape = 0; scrape < 5; scrape += 1) {
    const started = process.cpuUsage();
    const pieces = metrics.render()[Symbol.asyncIterator]();
    const stretches: number[] = [];
    for (let done = false; !done;) {
      const before = process.cpuUsage();
      done = (await pieces.next()).done === true;
      stretches.push(process.cpuUsage(before).user / 1000);
    }
    works.push(process.cpuUsage(started).user / 1000);
    longest.push(Math.max(...stretches));
  }
  // The best of several: other programs on the machine make the same work look longer, never shorter.
  assert.ok(Math.min(...works) < 200, `${Math.min(...works)} ms of work`);
  assert.ok(Math.min(...longest) < 50, `${Math.min(...longest)} ms at a time`);
});

test('a line that stays made is made again when its value changes', async () => {
  const metrics = aProcess();
  const gauge = new Gauge({ name: 'level', help: 'Level.', labelNames: ['a'], registers: [metrics.registry] });
  for (const value of [1, 1, 2]) {
    gauge.set({ a: 'x' }, value);
    assert.ok((await textOf(metrics.render())).endsWith(`level{a="x"} ${value}\n`));
  }
});

test('pauses of the collector are summed for ever, their quantiles are of the last five minutes', async () => {
  const clock = new FakeClock();
  const pauses = new GcPauses(clock);
  const told = async () => (await textOf(renderFamilies([pauses.family()]))).split('\n').slice(2, -1);
  assert.deepEqual(await told(), ['go_gc_duration_seconds_sum 0', 'go_gc_duration_seconds_count 0']);
  pauses.record(8);
  await clock.advance(300_001);
  for (const seconds of [0.25, 0.5, 1, 2]) pauses.record(seconds);
  assert.deepEqual(await told(), [
    'go_gc_duration_seconds{quantile="0"} 0.25',
    'go_gc_duration_seconds{quantile="0.25"} 0.25',
    'go_gc_duration_seconds{quantile="0.5"} 0.5',
    'go_gc_duration_seconds{quantile="0.75"} 1',
    'go_gc_duration_seconds{quantile="1"} 2',
    'go_gc_duration_seconds_sum 11.75',
    'go_gc_duration_seconds_count 5',
  ]);
});

test('pauses of this process and delays of its loop are measured', async () => {
  const stopping = new AbortController();
  const pauses = new GcPauses(systemClock);
  const delay = new EventLoopDelay();
  pauses.observe(stopping.signal);
  delay.observe(systemClock, stopping.signal);
  await sleep(50);
  const until = performance.now() + 200;
  let garbage: unknown[] = [];
  while (performance.now() < until) garbage = [...garbage.slice(-1000), { at: performance.now() }];
  await sleep(50);
  stopping.abort();
  const count = pauses.family().values.at(-1);
  assert.ok((count?.value ?? 0) > 0);
  const worst = delay.family().values.find(({ labels }) => labels['percentile'] === 'max');
  assert.ok((worst?.value ?? 0) > 0.15 && (worst?.value ?? 0) < 2, `${worst?.value} s`);
});

test('the delay of a loop is that of the last full minute', async (t) => {
  const clock = new FakeClock();
  const stopping = new AbortController();
  t.after(() => stopping.abort());
  const delay = new EventLoopDelay();
  delay.observe(clock, stopping.signal);
  assert.deepEqual(delay.family().values, []);
  await sleep(60);
  await clock.advance(60_000);
  const minute = delay.family().values;
  assert.deepEqual(
    minute.map(({ labels }) => labels['percentile']),
    ['p50', 'p99', 'max'],
  );
  await sleep(60);
  assert.deepEqual(delay.family().values, minute);
});
