import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ClusterError, type LogRequest } from '@cronjob-monitor/shared/kube';
import { aNamespace, prepare, raw, until, type Subject } from '../contract-cluster.ts';
import { aJob, paths, type JobShape } from '../kube-objects.ts';

const forever = new AbortController().signal;

/** Text that is no plain text: an escape sequence, a character of several bytes, no line break at the end. */
const control = '\u001b[31mred\u001b[0m Größe\u0007 5 €';

/** Logs and events: what explains a run, as far as it can still be had. */
export function evidenceContract(subject: Subject): void {
  describe('evidence', () => {
    let namespace = '';
    const jobs: Readonly<Record<string, JobShape>> = {
      plain: { play: { outcome: 'success', seconds: '0.2', log: 'one\ntwo\nthree\nfour\nfive\n' } },
      bytes: { play: { outcome: 'success', seconds: '0.2', log: control } },
      again: {
        play: { outcome: 'fail-first:1', seconds: '0.2', log: 'life\n' },
        spec: { backoffLimit: 3 },
        pod: { restartPolicy: 'OnFailure' },
      },
      pulling: { play: { outcome: 'imagepull' } },
      two: {
        play: { outcome: 'success', seconds: '0.2', log: 'from main' },
        pod: {
          containers: [
            { name: 'main', image: 'a' },
            { name: 'side', image: 'b' },
          ],
        },
      },
    };

    before(async () => {
      namespace = await aNamespace(subject);
      for (const [name, shape] of Object.entries(jobs))
        await prepare(subject, 'POST', paths.jobs(namespace), aJob(name, shape));
    });

    // oxlint-disable-next-line typescript/no-explicit-any -- a pod as the server has it, looked into by tests
    const podOf = (job: string, isReady: (pod: any) => boolean): Promise<any> =>
      until(`pod of ${job}`, async () => {
        const pods = await subject().client.listPodsOfJob(namespace, job, forever);
        return pods.find(isReady);
      });
    const hasEnded = (pod: { status: { phase: string } }): boolean => pod.status.phase === 'Succeeded';

    const read = async (request: Omit<LogRequest, 'namespace' | 'container'>, container = 'main'): Promise<string> => {
      const parts: Uint8Array[] = [];
      const log = await subject().client.readLog({ namespace, container, ...request }, forever);
      for await (const part of log) parts.push(part);
      return Buffer.concat(parts).toString('latin1');
    };
    const refusal = async (log: Promise<string>): Promise<ClusterError> => {
      const error = await log.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      assert.ok(error instanceof ClusterError);
      return error;
    };

    test('a log is read whole, from its end, and cut where the limit says', async () => {
      const pod = (await podOf('plain', hasEnded)).metadata.name;
      assert.equal(await read({ pod }), 'one\ntwo\nthree\nfour\nfive\n');
      assert.equal(await read({ pod, tailLines: 2 }), 'four\nfive\n');
      assert.equal(await read({ pod, limitBytes: 6 }), 'one\ntw');
      assert.equal(await read({ pod, tailLines: 3, limitBytes: 8 }), 'three\nfo');
    });

    test('bytes of a log come as they are, and a limit may cut a character', async () => {
      const pod = (await podOf('bytes', hasEnded)).metadata.name;
      const bytes = Buffer.from(control);
      assert.deepEqual(Buffer.from(await read({ pod }), 'latin1'), bytes);
      const limit = bytes.indexOf(0xc3) + 1;
      assert.deepEqual(Buffer.from(await read({ pod, limitBytes: limit }), 'latin1'), bytes.subarray(0, limit));
    });

    test('a container that was restarted has two logs', async () => {
      const pod = (await podOf('again', hasEnded)).metadata.name;
      assert.equal(await read({ pod, previous: true }), 'life\n');
      assert.equal(await read({ pod }), 'life\n');
    });

    test('a container that was not restarted has no earlier log', async () => {
      const pod = (await podOf('plain', hasEnded)).metadata.name;
      const error = await refusal(read({ pod, previous: true }));
      assert.equal(error.code, 'invalid');
      assert.match(error.message, /previous terminated container "main" in pod ".*" not found/);
    });

    test('a container that waits for its image has no log yet', async () => {
      const pod = await podOf(
        'pulling',
        (pod) => pod.status.containerStatuses?.[0]?.state.waiting?.reason === 'ImagePullBackOff',
      );
      const error = await refusal(read({ pod: pod.metadata.name }));
      assert.equal(error.code, 'invalid');
      assert.match(error.message, /waiting to start: trying and failing to pull image/);
    });

    test('a log that is followed ends with its container', async () => {
      const running = aJob('running', { play: { outcome: 'success', seconds: '3', log: 'working\n' } });
      await prepare(subject, 'POST', paths.jobs(namespace), running);
      const pod = (await podOf('running', (pod) => pod.status.phase === 'Running')).metadata.name;
      assert.equal(await read({ pod, follow: true }), 'working\n');
      await podOf('running', hasEnded);
    });

    test('each container has its own log, and one of several must be named', async () => {
      const pod = (await podOf('two', hasEnded)).metadata.name;
      assert.equal(await read({ pod }), 'from main');
      assert.ok(!(await read({ pod }, 'side')).includes('from main'));
      const { status, body } = await raw(subject, 'GET', `${paths.pods(namespace, pod)}/log`);
      assert.equal(status, 400);
      assert.match(body.message, /a container name must be specified for pod .*, choose one of: \[main side\]/);
    });

    test('a pod or container that does not exist has no log', async () => {
      assert.equal((await refusal(read({ pod: 'none' }))).code, 'notFound');
      const pod = (await podOf('plain', hasEnded)).metadata.name;
      assert.equal((await refusal(read({ pod }, 'none'))).code, 'invalid');
    });

    test('no event is about what does not exist', async () => {
      assert.deepEqual(await subject().client.listEvents(namespace, 'no-such-uid', forever), []);
    });

    test('events are found by the UID of what they are about', async () => {
      const [job] = await Promise.all([
        subject().client.findJob({ namespace, name: 'plain' }, forever),
        podOf('plain', hasEnded),
      ]);
      const { uid } = (job?.['metadata'] ?? {}) as { uid: string };
      const made = await until('event SuccessfulCreate', async () => {
        const events = await subject().client.listEvents(namespace, uid, forever);
        return events.find(({ reason }) => reason === 'SuccessfulCreate');
      });
      assert.deepEqual([made.type, made.object, made.count], ['Normal', 'Job/plain', 1]);
    });
  });
}
