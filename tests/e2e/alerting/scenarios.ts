import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { AlertDetail, CronJobDetail } from '@cronjob-monitor/shared/contract';
import { aCronJob, paths } from '../../cluster/kube-objects.ts';
import type { TestDatabase } from '../../store/databases.ts';
import { namespace, type Scene } from './scene.ts';
import { createScenarios, findStage, hasty } from './stage.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

const config = {
  ...hasty,
  cluster: { name: 'test' },
  gitops: { mirror: 'progressing' },
  // On a busy machine a log may take longer than the 250 ms that a message waits by default.
  evidence: { 'message-wait': '10s' },
  ui: { 'external-url': 'https://monitor.example.org' },
};

interface Scenarios {
  readonly database: TestDatabase['name'];
  /** Without those that take minutes. */
  readonly brief: boolean;
}

/**
 * What goes wrong with CronJobs is told once, in the right place, with the reason, and its end as well: an installation of the chart on a
 * real cluster with RBAC, with real receivers. Each scenario has a CronJob and a path of the receiver of its own, and they go on at the
 * same time.
 */
export async function describeAlerts(title: string, { database: name, brief }: Scenarios): Promise<void> {
  const stage = await findStage(name);

  describe(title, { skip: stage.skip, concurrency: 30 }, () => {
    const { cluster } = stage;
    let scene: Scene;
    let silencing: Promise<void>;
    let missing: Promise<void> = Promise.resolve();
    const { scenario, others } = createScenarios();
    const longScenario = (title: string, play: () => Promise<void>): void => {
      if (!brief) scenario(title, play);
    };

    before(async () => {
      scene = await stage.begin(config);
      silencing = silenceScenario();
      if (!brief) missing = missedRuns();
      silencing.catch(() => {}); // its test hears of it
      missing.catch(() => {});
    });
    after(async () => {
      await stage.end(scene);
    });

    scenario('a failed run is told once, with exit code, log and advice, and its recovery once', async () => {
      await scene.watch('fails', {});
      await scene.untilWatched('fails');
      const job = await scene.run('fails', 'oom');
      await scene.untilHeard('fails', ['alert.firing jobFailed']);
      const [told] = scene.told('fails');
      assert.deepEqual(
        [told?.data.job?.name, told?.data.job?.exitCode, told?.data.job?.reason],
        [job, 137, 'OOMKilled'],
      );
      assert.match(told?.data.context.logs ?? '', /log of oom/);
      assert.match(told?.data.context.suggestedFix ?? '', /memory/i);
      await scene.run('fails', 'success');
      await scene.untilHeard('fails', ['alert.firing jobFailed', 'alert.resolved jobFailed']);
    });

    scenario('a run that fails twice and then succeeds is nothing to tell', async () => {
      await scene.watch('retries', {});
      await scene.untilWatched('retries');
      await scene.run('retries', 'fail-first:2', { spec: { backoffLimit: 3 } });
      await scene.service.until('the run is recorded', async () => (await runsOf('retries')) > 0);
      await wait(3_000);
      assert.deepEqual(scene.heard('retries'), []);
    });

    scenario('a CronJob suspended for too long is told, and that it resumed', async () => {
      await scene.watch('rests', { suspendedHandling: { alertIfSuspendedFor: '3s' } }, { cron: { suspend: true } });
      await scene.untilHeard('rests', ['alert.firing jobSuspended']);
      await scene.patchCronJob('rests', { suspend: false });
      await scene.untilHeard('rests', ['alert.firing jobSuspended', 'alert.resolved jobSuspended']);
    });

    longScenario('a suspended CronJob without further wishes is nothing to tell', async () => {
      await scene.watch('sleeps', {}, { schedule: '* * * * *', cron: { suspend: true } });
      await scene.untilWatched('sleeps');
      await wait(2 * minuteMs);
      assert.deepEqual([scene.heard('sleeps'), await scene.openAlerts('sleeps')], [[], []]);
    });

    scenario('within a maintenance window nothing is told, and the alert says so', async () => {
      const window = { name: 'move', schedule: '0 0 * * *', duration: '24h' };
      await scene.watch('moves', { maintenanceWindows: [window] });
      await scene.untilWatched('moves');
      await scene.run('moves', 'exit:1');
      await scene.service.until('it is suppressed', async () => (await scene.openAlerts('moves')).length > 0);
      const [alert] = await scene.openAlerts('moves');
      assert.deepEqual([alert?.state, alert?.suppressedBy], ['suppressed', 'maintenance']);
      await wait(3_000);
      assert.deepEqual(scene.heard('moves'), []);
    });

    scenario('a silence holds the message back, and its early end lets it go', () => silencing);

    async function silenceScenario(): Promise<void> {
      await scene.watch('muted', {});
      await scene.untilWatched('muted');
      const made = await call('POST', '/api/v1/silences', {
        matcher: { cronjobs: ['muted'] },
        duration: '1h',
        comment: 'known',
      });
      assert.equal(made.status, 201);
      await scene.run('muted', 'exit:1');
      await scene.service.until('it is suppressed', async () => (await scene.openAlerts('muted')).length > 0);
      assert.equal((await scene.openAlerts('muted'))[0]?.suppressedBy, 'silence');
      assert.deepEqual(scene.heard('muted'), []);
      // A message says what held it from a second on.
      await wait(1_500);
      const { id } = (await made.json()) as { id: string };
      assert.equal((await call('DELETE', `/api/v1/silences/${id}`)).status, 200);
      await scene.untilHeard('muted', ['alert.firing jobFailed']);
      assert.equal(scene.told('muted')[0]?.data.alert.heldBy, 'silence');
    }

    scenario('a success within the delay cancels the alert, and no channel hears of it', async () => {
      await scene.watch('recovers', { alerting: { alertDelay: '40s' } });
      await scene.untilWatched('recovers');
      await scene.run('recovers', 'exit:1');
      await scene.service.until('it waits', async () => (await scene.openAlerts('recovers'))[0]?.state === 'pending');
      await scene.run('recovers', 'success');
      await scene.service.until('it is gone', async () => (await scene.openAlerts('recovers')).length === 0);
      await wait(45_000);
      assert.deepEqual(scene.heard('recovers'), []);
    });

    scenario('the CronJob itself says how its template fares, to tools that read nothing else', async () => {
      await scene.watch('mirrored', {});
      const path = paths.cronJobs(namespace, 'mirrored');
      const untilSays = async (health: string, message: RegExp): Promise<void> => {
        await scene.service.until(`it says ${health}`, async () => {
          const { annotations = {} } = (await cluster.request('GET', path)).body.metadata;
          const isSaid = annotations['cronjob-monitor.io/health'] === health;
          return isSaid && message.test(annotations['cronjob-monitor.io/health-message'] ?? '');
        });
      };
      await untilSays('Progressing/1', /^No run with this job template has ended; the next is due /);
      await scene.run('mirrored', 'exit:1');
      await untilSays('Degraded/1', /^Its last run failed \(exit/);
      await scene.run('mirrored', 'success');
      await untilSays('Healthy/1', /^Its last run with this job template succeeded\.$/);
      await scene.patchCronJob('mirrored', { suspend: true });
      await untilSays('Suspended/2', /^It is suspended\.$/);
      const { managedFields } = (await cluster.request('GET', path)).body.metadata;
      const applied = managedFields.filter(({ operation }: { operation: string }) => operation === 'Apply');
      const ours = { 'f:cronjob-monitor.io/health': {}, 'f:cronjob-monitor.io/health-message': {} };
      assert.deepEqual(
        applied.map(({ manager, fieldsV1 }: { manager: string; fieldsV1: object }) => [manager, fieldsV1]),
        [['cronjob-monitor', { 'f:metadata': { 'f:annotations': ours } }]],
      );
    });

    scenario(
      'a chain of CronJobs that fails is three alerts and one message, and what fails again by itself is told',
      async () => {
        const annotations = { 'cronjob-monitor.io/depends-on': 'chain-load' };
        await scene.watch('chain-extract', {});
        await scene.watch('chain-load', { dependsOn: ['chain-extract'] });
        await scene.watch('chain-report', {}, { annotations });
        await scene.untilWatched('chain-extract', 'chain-load', 'chain-report');
        await scene.service.until('it is known who waits for whom', async () => {
          const waits = await Promise.all(['chain-load', 'chain-report'].map(dependsOn));
          return waits.join() === 'chain-extract,chain-load';
        });
        await scene.run('chain-extract', 'exit:1');
        await scene.untilHeard('chain-extract', ['alert.firing jobFailed']);
        for (const name of ['chain-load', 'chain-report']) {
          await scene.run(name, 'exit:1');
          await scene.service.until(`${name} has an alert`, async () => (await scene.openAlerts(name)).length > 0);
          const [alert] = await scene.openAlerts(name);
          const { told, waitsFor } = await scene.service.ask<AlertDetail>(`/api/v1/alerts/${alert?.id}`);
          assert.deepEqual(
            [alert?.state, told.state, told.reason, waitsFor?.cronjob.name, waitsFor?.channels],
            ['active', 'held', 'dependsOn', 'chain-extract', ['chain-extract']],
          );
        }
        await wait(3_000);
        assert.deepEqual([scene.heard('chain-load'), scene.heard('chain-report')], [[], []]);
        await scene.run('chain-extract', 'success');
        await scene.untilHeard('chain-extract', ['alert.firing jobFailed', 'alert.resolved jobFailed']);
        await scene.run('chain-load', 'success');
        await scene.service.until('it is well', async () => (await scene.openAlerts('chain-load')).length === 0);
        await scene.run('chain-report', 'exit:1');
        await scene.untilHeard('chain-report', ['alert.firing jobFailed']);
        assert.equal(scene.told('chain-report')[0]?.data.alert.heldBy, 'dependsOn');
        assert.deepEqual(scene.heard('chain-load'), [], 'of what was never told no end is told');
      },
    );

    scenario('where no channel takes what the first of a chain has to say, the next one is told', async () => {
      await scene.secret('chain-dead', { url: 'http://127.0.0.1:9/nothing-listens' });
      await scene.webhook('chain-dead', { hasSecret: false });
      await scene.monitor('chain-first', 'chain-first', {}, ['chain-dead']);
      await scene.create(paths.cronJobs(namespace), aCronJob('chain-first'));
      await scene.watch('chain-second', { dependsOn: ['chain-first'] });
      await scene.untilWatched('chain-first', 'chain-second');
      await scene.service.until('it is known', async () => (await dependsOn('chain-second')) === 'chain-first');
      await scene.run('chain-first', 'exit:1');
      await scene.service.until('it has an alert', async () => (await scene.openAlerts('chain-first')).length > 0);
      await scene.run('chain-second', 'exit:1');
      await scene.untilHeard('chain-second', ['alert.firing jobFailed']);
    });

    async function dependsOn(name: string): Promise<string> {
      const { dependsOn: parents } = await scene.service.ask<CronJobDetail>(`/api/v1/cronjobs/${namespace}/${name}`);
      return parents.map((parent) => parent.name).join();
    }

    scenario('without one it is told when the delay is over, and says what held it', async () => {
      await scene.watch('lasts', { alerting: { alertDelay: '10s' } });
      await scene.untilWatched('lasts');
      const at = Date.now();
      await scene.run('lasts', 'exit:1');
      await scene.untilHeard('lasts', ['alert.firing jobFailed']);
      const [told] = scene.told('lasts');
      assert.equal(told?.data.alert.heldBy, 'alertDelay');
      assert.ok((told?.at ?? 0) - at >= 10_000);
    });

    scenario('two monitors of one CronJob tell a channel of both once, and each channel of its own', async () => {
      await scene.webhook('shared-a');
      await scene.webhook('shared-b');
      await scene.watch('shared', {}, {}, ['shared', 'shared-a']);
      await scene.monitor('shared-too', 'shared', {}, ['shared', 'shared-b']);
      await scene.service.until('both watch it', async () => (await monitorsOf('shared')) === 2);
      await scene.run('shared', 'exit:1');
      for (const channel of ['shared', 'shared-a', 'shared-b'])
        await scene.untilHeard(channel, ['alert.firing jobFailed']);
      await scene.run('shared', 'success');
      const both = ['alert.firing jobFailed', 'alert.resolved jobFailed'];
      for (const channel of ['shared', 'shared-a', 'shared-b']) await scene.untilHeard(channel, both);
    });

    scenario(
      'no success for too long is told although it fails all the time, and the next success ends both',
      async () => {
        await scene.watch('dead', { deadManSwitch: { enabled: true, maxTimeSinceLastSuccess: '20s' } });
        await scene.untilWatched('dead');
        await scene.run('dead', 'success');
        await scene.service.until('the success is recorded', async () => (await runsOf('dead')) > 0);
        await scene.run('dead', 'exit:1');
        await scene.untilHeard('dead', ['alert.firing jobFailed', 'alert.firing deadManTriggered'], 2 * minuteMs);
        await scene.run('dead', 'success');
        await scene.service.until('both ended', () => scene.heard('dead').length === 4);
        assert.deepEqual(scene.heard('dead').slice(2).sort(), [
          'alert.resolved deadManTriggered',
          'alert.resolved jobFailed',
        ]);
      },
    );

    longScenario('a dead-man by the schedule counts the runs that should have come', async () => {
      // Two runs: the first success comes before the second one is due, however slow the machine is.
      const autoFromSchedule = { enabled: true, buffer: '5s', missedScheduleThreshold: 2 };
      const deadManSwitch = { enabled: true, autoFromSchedule };
      const suspendedHandling = { pauseMonitoring: false };
      await scene.watch(
        'auto',
        { deadManSwitch, suspendedHandling },
        { schedule: '* * * * *', cron: { suspend: true } },
      );
      await scene.untilWatched('auto');
      await scene.run('auto', 'success');
      await scene.untilHeard('auto', ['alert.firing deadManTriggered'], 4 * minuteMs);
    });

    longScenario(
      'runs that never started are told while the controllers are away, and their return ends it',
      () => missing,
    );

    async function missedRuns(): Promise<void> {
      await scene.watch('misses', { missedSchedule: { grace: '30s' } }, { schedule: '* * * * *' });
      await scene.untilWatched('misses');
      await scene.service.until('it ran once', async () => (await runsOf('misses')) > 0, 2 * minuteMs);
      await slowRuns();
      await cluster.stopControllers();
      await wait(2 * minuteMs);
      await scene.untilHeard('misses', ['alert.firing missedSchedule'], minuteMs);
      await cluster.startControllers();
      await scene.untilHeard('misses', ['alert.firing missedSchedule', 'alert.resolved missedSchedule'], 3 * minuteMs);
    }

    const slow = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    /** What needs the controllers for a while is over before they go away. */
    const slowRuns = (): Promise<unknown> => Promise.all(slow.map(({ promise }) => promise));

    longScenario(
      'a CronJob that never succeeded is told as soon as its first run had its time, and never as overdue',
      async () => {
        const every = { schedule: '* * * * *' };
        const limit = { deadManSwitch: { maxTimeSinceLastSuccess: '5s' } };
        const first = ['alert.firing absent/neverSucceeded'];
        try {
          await scene.create(paths.cronJobs(namespace), aCronJob('older', failing(every)));
          await scene.watch(
            'hangs',
            { deadManSwitch: { autoFromSchedule: { buffer: '5s' } } },
            { ...every, play: { outcome: 'hang' } },
          );
          await scene.watch('only-fails', limit, failing(every));
          await scene.service.until(
            'it failed before the service watched it',
            async () => {
              const { body } = await cluster.request('GET', paths.jobs(namespace));
              const jobs = (body as { items: readonly { metadata: { name: string }; status: { failed?: number } }[] })
                .items;
              return jobs.some(
                ({ metadata, status }) => metadata.name.startsWith('older-') && (status.failed ?? 0) > 0,
              );
            },
            3 * minuteMs,
          );
          const watchedAt = Date.now();
          await scene.watch('older', { ...limit, jobFailed: { enabled: false } }, failing(every));
          await Promise.all([
            scene.untilHeard('older', first, 3 * minuteMs),
            scene.untilHeard('hangs', first, 3 * minuteMs),
            scene.service.until('both of only-fails', () => scene.heard('only-fails').length === 2, 3 * minuteMs),
          ]);
          assert.deepEqual(scene.heard('only-fails').toSorted(), [...first, 'alert.firing jobFailed']);
          for (const name of ['older', 'hangs', 'only-fails']) {
            const [alert] = scene.told(name).filter(({ data }) => data.alert.type === 'absent');
            assert.match(
              alert?.data.alert.title ?? '',
              /^CRITICAL prod\/[\w-]+: never succeeded, first due 20.* UTC \(limit 5 s\)$/,
            );
            assert.equal(
              Date.parse(alert?.data.alert.since ?? '') % minuteMs,
              5_000,
              'from the slot on, not from its first look',
            );
          }
          const [older] = scene.told('older');
          assert.ok(Date.parse(older?.data.alert.since ?? '') > watchedAt, 'what was before its monitor is history');
          for (const name of ['older', 'hangs', 'only-fails']) await scene.patchCronJob(name, { suspend: true });
          await scene.service.until('a pause closes it', async () => (await scene.openAlerts('older')).length === 0);
        } finally {
          slow[1].resolve();
        }
      },
    );

    longScenario('promises about how long and how well runs go are told by what they are about', async () => {
      const every = { schedule: '* * * * *' };
      await Promise.all([
        scene.watch('too-long', { sla: { maxDuration: '8s' } }, { ...every, play: { outcome: 'hang' } }),
        scene.watch('too-short', { sla: { minDuration: '10m' } }, every),
        scene.watch('unreliable', { sla: { minSuccessRate: 90 }, jobFailed: { enabled: false } }, failing(every)),
        scene.watch('overdue', finishBySoon(), failing(every)),
      ]);
      try {
        await Promise.all([
          scene.untilHeard('too-long', ['alert.firing slaBreached/maxDuration'], 3 * minuteMs),
          scene.untilHeard('too-short', ['alert.firing slaBreached/minDuration'], 3 * minuteMs),
          scene.untilHeard('unreliable', ['alert.firing slaBreached/successRate'], 3 * minuteMs),
          scene.untilHeard('overdue', ['alert.firing slaBreached/finishBy'], 5 * minuteMs),
        ]);
        await scene.patchCronJob('too-long', { suspend: true });
      } finally {
        slow[0].resolve();
      }
    });

    scenario('a Job that is stuck is told by where it stands, with the reason', async () => {
      const limits = { notStartedAfter: '5s', overrunningAfter: '5s', terminatingAfter: '5s' };
      await scene.watch('stuck-image', { stuckJobs: limits });
      await scene.watch('stuck-running', { stuckJobs: limits });
      await scene.untilWatched('stuck-image', 'stuck-running');
      const waiting = await scene.run('stuck-image', 'imagepull');
      await scene.run('stuck-running', 'hang');
      await scene.untilHeard('stuck-image', ['alert.firing jobStuck/notStarted']);
      assert.match(scene.told('stuck-image')[0]?.data.alert.message ?? '', /ImagePullBackOff|ErrImagePull/);
      await scene.untilHeard('stuck-running', ['alert.firing jobStuck/overrunning']);
      await scene.remove(paths.jobs(namespace, waiting));
      await scene.untilHeard('stuck-image', ['alert.firing jobStuck/notStarted', 'alert.resolved jobStuck/notStarted']);
    });

    scenario('a receiver that fails once gets the message again, under the same key', async () => {
      await scene.watch('flaky', {});
      await scene.untilWatched('flaky');
      let failures = 0;
      scene.hook.answerAlways(({ path }) => (path === '/flaky' && failures++ === 0 ? { status: 500 } : {}));
      await scene.run('flaky', 'exit:1');
      await scene.untilHeard('flaky', ['alert.firing jobFailed'], 2 * minuteMs);
      const told = scene.told('flaky');
      assert.deepEqual(
        told.map(({ answered }) => answered),
        [500, 200],
      );
      assert.equal(new Set(told.map(({ id }) => id)).size, 1);
    });

    scenario('a message whose Secret is missing waits, and goes when it is there', async () => {
      await scene.webhook('later', { hasSecret: false });
      await scene.monitor('later', 'later', {}, ['later']);
      await scene.watch('later', {}, {}, []);
      await scene.untilWatched('later');
      await scene.run('later', 'exit:1');
      await scene.service.until('it waits', async () => (await scene.openAlerts('later')).length > 0);
      await wait(2_000);
      assert.deepEqual(scene.heard('later'), []);
      await scene.secret('later', { url: `${scene.hook.url}/later` });
      await scene.untilHeard('later', ['alert.firing jobFailed'], 2 * minuteMs);
    });

    scenario('mail tells the same, and the end in the thread of the beginning', async () => {
      await scene.secret('smtp', { host: '127.0.0.1', port: String(scene.mail.port) });
      await scene.channel('mail', {
        type: 'email',
        email: {
          smtpSecretRef: { name: 'smtp', namespace },
          from: 'monitor@example.org',
          to: ['team@example.org'],
          tls: 'opportunistic',
        },
      });
      await scene.monitor('mailed', 'mailed', {}, ['mail']);
      await scene.watch('mailed', {}, {}, []);
      await scene.untilWatched('mailed');
      await scene.run('mailed', 'exit:3');
      await scene.service.until('a mail', () => scene.mails('team@example.org').length === 1, 2 * minuteMs);
      await scene.run('mailed', 'success');
      await scene.service.until('two mails', () => scene.mails('team@example.org').length === 2, 2 * minuteMs);
      const [first, second] = scene.mails('team@example.org');
      assert.equal(first?.header('subject'), '[WARNING] prod/mailed: job failed');
      assert.equal(second?.header('subject'), 'RESOLVED [WARNING] prod/mailed: job failed');
      assert.equal(second?.header('references'), first?.header('references'));
      assert.match(first?.text ?? '', /exit code:? *3|exit 3/i);
    });

    test('a restart repeats nothing, and what ends afterwards is told', async () => {
      await wait(1_000); // All of them have begun.
      await Promise.allSettled(others);
      await scene.watch('restarted', {});
      await scene.untilWatched('restarted');
      await scene.run('restarted', 'exit:1');
      await scene.untilHeard('restarted', ['alert.firing jobFailed']);
      // A message whose answer is not stored yet may be repeated after a crash: that is promised, and shown elsewhere.
      await scene.service.until('the answer is stored', async () => {
        const path = '/api/v1/deliveries?channel=restarted&state=sent';
        return (await scene.service.ask<{ items: readonly unknown[] }>(path)).items.length > 0;
      });
      const before = scene.hook.arrivals.length;
      await scene.service.crash();
      await wait(10_000);
      assert.equal(scene.heard('restarted').length, 1);
      const repeated = scene.hook.arrivals.slice(before).filter(({ body }) => body.includes('alert.firing'));
      assert.deepEqual(
        repeated.map(({ path }) => path),
        [],
      );
      await scene.run('restarted', 'success');
      await scene.untilHeard('restarted', ['alert.firing jobFailed', 'alert.resolved jobFailed']);
    });

    function call(method: string, path: string, body?: object): Promise<Response> {
      return fetch(scene.service.api + path, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
    }

    async function runsOf(cronJob: string): Promise<number> {
      const path = `/api/v1/cronjobs/${namespace}/${cronJob}/executions`;
      return (await scene.service.ask<{ items: readonly unknown[] }>(path)).items.length;
    }

    async function monitorsOf(cronJob: string): Promise<number> {
      const answer = await fetch(`${scene.service.api}/api/v1/cronjobs/${namespace}/${cronJob}`);
      const { monitors = [] } = (await answer.json()) as { monitors?: readonly unknown[] };
      return monitors.length;
    }
  });
}

const failing = <T extends object>(shape: T) => ({ ...shape, play: { outcome: 'exit:1' } });

/** A deadline two to three minutes from now, so that a run is due before it. */
function finishBySoon(): object {
  const time = new Date(Date.now() + 2.5 * minuteMs).toISOString().slice(11, 16);
  return { sla: { minSuccessRate: 0, finishBy: { time, timezone: 'UTC' } }, jobFailed: { enabled: false } };
}
