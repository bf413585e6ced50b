import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { AlertDetail, Delivery } from '@cronjob-monitor/shared/contract';
import { aCronJob, paths } from '../cluster/kube-objects.ts';
import { parseMail } from '../sinks/index.ts';
import {
  buildAlertmanager,
  startAlertmanagers,
  startMailServers,
  whyNoMailServers,
  type AlertmanagerCluster,
  type MailServers,
} from '../servers/index.ts';
import { namespace, type Scene } from './alerting/scene.ts';
import { findStage, hasty } from './alerting/stage.ts';

const noServers = whyNoMailServers();
const built = await buildAlertmanager();
const stage = await findStage('sqlite');
const skip =
  stage.skip || (noServers !== undefined && `mail servers: ${noServers}`) || ('skipped' in built && built.skipped);

/** Long enough for a service that is killed meanwhile to be back, on a busy machine too. */
const [later, laterMs] = ['45s', 45_000];

describe('a channel that hears later than others: a real Alertmanager and Postfix take turns', { skip }, () => {
  let scene: Scene;
  let mail: MailServers;
  let alertmanagers: AlertmanagerCluster;

  before(async () => {
    scene = await stage.begin(hasty);
    mail = await startMailServers();
    assert.ok(!('skipped' in built));
    alertmanagers = await startAlertmanagers(1, `${scene.hook.url}/notified`, built);
    await scene.secret('smtp', { host: '127.0.0.1', port: String(mail.port) });
    const smtpSecretRef = { name: 'smtp', namespace };
    const email = { smtpSecretRef, from: 'monitor@example.org', to: ['night@example.org'], tls: 'opportunistic' };
    await scene.channel('night', { type: 'email', email });
    await scene.secret('alertmanager', { url: alertmanagers.peers[0]?.url ?? '' });
    const urlSecretRef = { name: 'alertmanager', namespace, key: 'url' };
    await scene.channel('alertmanager', { type: 'webhook', webhook: { urlSecretRef, format: 'alertmanager' } });
  });
  after(async () => {
    await stage.end(scene);
    await alertmanagers.remove();
    await mail.stop();
  });

  test('killed between the failure and its turn, the service tells the later channel once, within 2 s', async () => {
    await aLadder('to-mail', 'alertmanager', 'night');
    await aLadder('to-alertmanager', 'night', 'alertmanager');
    const ladders = [await fails('to-mail'), await fails('to-alertmanager')];
    await scene.service.until(
      'the first of each are told',
      () => notified('to-mail').length === 1 && mails('to-alertmanager').length === 1,
    );
    await scene.service.crash();
    assert.deepEqual([mails('to-mail'), notified('to-alertmanager')], [[], []], 'no turn came while it was down');
    const dueAt = Math.max(...ladders.map(({ dueAt }) => dueAt));
    assert.ok(Date.now() < dueAt, `the service was back ${Date.now() - dueAt} ms too late to show anything`);
    await wait(dueAt - Date.now());
    await scene.service.until(
      'both turns came',
      () => notified('to-alertmanager').length > 0 && mails('to-mail').length > 0,
    );
    for (const ladder of ladders) {
      const { sentAt } = (await turnOf(ladder)) ?? {};
      const lateMs = Date.parse(sentAt ?? '') - ladder.dueAt;
      assert.ok(lateMs >= 0 && lateMs <= 2_000, `${ladder.name} was told ${lateMs} ms after its turn`);
    }
    await wait(5_000);
    assert.deepEqual(
      [notified('to-mail'), mails('to-alertmanager')],
      [['firing'], ['[WARNING] prod/to-alertmanager: job failed']],
    );
    assert.deepEqual(
      [notified('to-alertmanager'), mails('to-mail')],
      [['firing'], ['[WARNING] prod/to-mail: job failed']],
    );
    const [told] = mail.mailsOf('night').filter((raw) => raw.includes('prod/to-mail:'));
    assert.match(
      (parseMail(told ?? '').text ?? '').replaceAll(/\s+/g, ' '),
      /alertmanager was told (?:4\d s|1 min) ago; it was not acknowledged\./,
    );
    for (const { name } of ladders) await scene.run(name, 'success');
    await scene.service.until('all that were told hear of the end', () =>
      ladders.every(({ name }) => notified(name).at(-1) === 'resolved' && mails(name).length === 2),
    );
  });

  test('acknowledged a second before its turn, the later channel never hears, not even of the end', async () => {
    await aLadder('noted', 'alertmanager', 'night');
    const ladder = await fails('noted');
    await wait(ladder.dueAt - 1_000 - Date.now());
    const answer = await fetch(`${scene.service.api}/api/v1/alerts/${ladder.alertId}/acknowledge`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ by: 'ana' }),
    });
    assert.equal(answer.status, 200, await answer.text());
    assert.ok(Date.now() < ladder.dueAt, 'the answer came too late to show anything');
    await scene.service.until('its message is taken back', async () => (await turnOf(ladder))?.state === 'cancelled');
    await scene.run('noted', 'success');
    await scene.service.until('the end is told', () => notified('noted').at(-1) === 'resolved');
    await wait(3_000);
    assert.deepEqual(mails('noted'), [], mail.log());
  });

  /** A CronJob whose failures `first` hears of at once, and `second` when that much time has passed. */
  async function aLadder(name: string, first: string, second: string): Promise<void> {
    await scene.monitor(
      name,
      name,
      { alerting: { channelRefs: [{ name: first }, { name: second, after: later }] } },
      [],
    );
    await scene.create(paths.cronJobs(namespace), aCronJob(name));
    await scene.untilWatched(name);
  }

  async function fails(name: string): Promise<Ladder> {
    await scene.run(name, 'exit:1');
    let turn: Delivery | undefined;
    let alertId = '';
    await scene.service.until(`${name} has its turn`, async () => {
      alertId = (await scene.openAlerts(name))[0]?.id ?? '';
      turn = alertId === '' ? undefined : await turnOf({ name, alertId });
      return turn !== undefined;
    });
    assert.ok(turn?.nextAttemptAt != null);
    const dueAt = Date.parse(turn.nextAttemptAt);
    assert.equal(dueAt - Date.parse(turn.createdAt), laterMs, 'written at birth');
    return { name, alertId, dueAt };
  }

  /** The message to the later channel of a ladder. */
  async function turnOf({ name, alertId }: Pick<Ladder, 'name' | 'alertId'>): Promise<Delivery | undefined> {
    const { deliveries } = await scene.service.ask<AlertDetail>(`/api/v1/alerts/${alertId}`);
    const second = name === 'to-alertmanager' ? 'alertmanager' : 'night';
    return deliveries.find(({ channel, kind }) => channel === second && kind === 'firing');
  }

  /** What Alertmanager notified its own receiver of. */
  function notified(name: string): string[] {
    return scene.hook.arrivals
      .filter(({ path }) => path === '/notified')
      .map(({ body }) => JSON.parse(body) as { status: string; groupLabels: { cronjob: string } })
      .filter(({ groupLabels }) => groupLabels.cronjob === name)
      .map(({ status }) => status);
  }

  /** The subjects of the mails about a CronJob, in no order. */
  function mails(name: string): string[] {
    const subjects = mail.mailsOf('night').map((raw) => parseMail(raw).header('subject') ?? '');
    return subjects.filter((subject) => subject.includes(`prod/${name}:`));
  }
});

interface Ladder {
  readonly name: string;
  readonly alertId: string;
  readonly dueAt: number;
}
