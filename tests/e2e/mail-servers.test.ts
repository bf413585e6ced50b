import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { AlertList, ChannelDetail, DrillList } from '@cronjob-monitor/shared/contract';
import { aCronJob, paths } from '../cluster/kube-objects.ts';
import { parseMail } from '../sinks/index.ts';
import { startMailServers, whyNoMailServers, type MailServers } from '../servers/index.ts';
import { namespace, type Scene } from './alerting/scene.ts';
import { createScenarios, findStage, hasty } from './alerting/stage.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

const noServers = whyNoMailServers();
const stage = await findStage('sqlite');

describe(
  'mail by Postfix and Dovecot, from a service on a real cluster',
  { skip: stage.skip || (noServers && `mail servers: ${noServers}`), concurrency: true },
  () => {
    const { scenario } = createScenarios();
    let scene: Scene;
    let mail: MailServers;

    before(async () => {
      mail = await startMailServers();
      scene = await stage.begin({ ...hasty, ui: { 'external-url': 'https://monitor.example.org' } });
      await scene.secret('smtp', { host: '127.0.0.1', port: String(mail.port) });
    });
    after(async () => {
      await stage.end(scene);
      await mail.stop();
    });

    const aMailbox = (user: string, more: object = {}): Promise<void> => {
      const smtpSecretRef = { name: 'smtp', namespace };
      const from = 'monitor@example.org';
      const email = { smtpSecretRef, from, to: [`${user}@example.org`], tls: 'opportunistic' };
      return scene.channel(user, { type: 'email', email, ...more });
    };
    const subjectsOf = (user: string): (string | undefined)[] =>
      mail.mailsOf(user).map((raw) => parseMail(raw).header('subject'));

    scenario('a chain of three CronJobs that fails is three alerts and one mail', async () => {
      await aMailbox('team');
      const chain = ['extract', 'load', 'report'];
      for (const [index, name] of chain.entries()) {
        const [parent] = chain.slice(Math.max(0, index - 1), index);
        await scene.monitor(name, name, parent === undefined ? {} : { dependsOn: [parent] }, ['team']);
        await scene.create(paths.cronJobs(namespace), aCronJob(name));
      }
      await scene.untilWatched(...chain);
      for (const [index, name] of chain.entries()) {
        await scene.run(name, 'exit:1');
        await scene.service.until(`${name} has an alert`, async () => (await scene.openAlerts(name)).length > 0);
        if (index === 0) await scene.service.until('a mail', () => mail.mailsOf('team').length === 1);
      }
      await wait(5_000);
      assert.deepEqual(subjectsOf('team'), ['[WARNING] prod/extract: job failed']);
      const { items } = await scene.service.ask<AlertList>('/api/v1/alerts?state=active');
      const told = items.map((alert) => [alert.cronjob.name, alert.told.state, alert.told.reason]);
      assert.deepEqual(told.toSorted(), [
        ['extract', 'sent', null],
        ['load', 'held', 'dependsOn'],
        ['report', 'held', 'dependsOn'],
      ]);
    });

    scenario(
      'a drill that a Sieve script drops is found within one period, and one that is answered is not',
      async () => {
        await scene.webhook('fallback');
        mail.sortBy('night', 'discard;\n');
        const due = new Date(Date.now() + 1.2 * minuteMs);
        const schedule = `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`;
        const drill = { schedule, timezone: 'UTC', ackWithin: '1m', fallbackChannel: 'fallback' };
        await aMailbox('night', { drill });
        await aMailbox('day', { drill });
        await scene.service.until('the drill of the day arrived', () => mail.mailsOf('day').length === 1, 4 * minuteMs);
        const [, id, key] = /\/drills\/([\w-]+)\?key=([\w-]+)/.exec(textOf(mail.mailsOf('day')[0] ?? '')) ?? [];
        const answer = await fetch(`${scene.service.api}/api/v1/drills/${id}/acknowledge`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ key, by: 'ana' }),
        });
        assert.equal(answer.status, 200, await answer.text());
        const outcomesOf = async (channel: string) =>
          (await scene.service.ask<DrillList>(`/api/v1/channels/${channel}/drills`)).items.map(
            ({ outcome }) => outcome,
          );
        await scene.service.until(
          'the other is over',
          async () => (await outcomesOf('night')).join() === 'reached',
          3 * minuteMs,
        );
        assert.deepEqual(await outcomesOf('day'), ['proved']);
        await scene.service.until('the fallback hears', () => scene.told('fallback').length > 0, 2 * minuteMs);
        await wait(3_000);
        assert.deepEqual(
          scene.told('fallback').map(({ kind }) => kind),
          ['channel.unproved'],
        );
        assert.deepEqual(mail.mailsOf('night'), [], mail.log());
        const { conditions } = await scene.service.ask<ChannelDetail>('/api/v1/channels/night');
        const proved = conditions.find(({ type }) => type === 'Proved');
        assert.deepEqual([proved?.status, proved?.reason], ['False', 'NotAcknowledged']);
      },
    );
  },
);

/** The text of a mail whose lines may be folded by quoted-printable. */
function textOf(raw: string): string {
  return raw.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=');
}
