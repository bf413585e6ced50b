import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeChannelSpecs } from '../../testing/index.ts';
import {
  judgeChannel,
  lacksLabel,
  mayReadSecret,
  toChannelStatus,
  type ChannelFacts,
  type ChannelFigures,
  type SecretFinding,
} from './channel-status.ts';
import { toConditions } from './condition.ts';
import { decodeChannelSpec } from './decode-channel.ts';

const secret = { namespace: 'ns', name: 'hook', keys: ['url'] };
const decoded = decodeChannelSpec({ spec: wholeChannelSpecs.chat });
const found = (finding: SecretFinding): Partial<ChannelFacts> => ({ secrets: [{ secret, finding }] });

for (const { says, more, status = 'False', reason, names = '' } of [
  { says: 'all can be used', more: {}, status: 'True', reason: 'Validated' },
  { says: 'its Secrets were not looked at', more: { secrets: undefined }, status: 'Unknown', reason: 'NotChecked' },
  {
    says: 'its spec cannot be used',
    more: { decoded: decodeChannelSpec({ spec: { type: 'chat' } }) },
    reason: 'InvalidSpec',
    names: 'spec.chat',
  },
  { says: 'the Secret is missing', more: found({ state: 'notFound' }), reason: 'SecretNotFound', names: 'ns/hook' },
  { says: 'its key is missing', more: found({ state: 'keyMissing' }), reason: 'SecretNotFound', names: 'no key url' },
  {
    says: 'its namespace is not allowed',
    more: found({ state: 'notAllowed' }),
    reason: 'SecretForbidden',
    names: 'channels.secret-namespaces',
  },
  { says: 'its label is missing', more: found({ state: 'unlabelled' }), reason: 'SecretForbidden', names: 'label' },
  {
    says: 'there is no right to read it',
    more: found({ state: 'noRight' }),
    reason: 'SecretForbidden',
    names: 'right',
  },
  {
    says: 'its value is no URL',
    more: found({ state: 'unusable', text: 'url is no URL' }),
    reason: 'InvalidSpec',
    names: 'url is no URL',
  },
  {
    says: 'its endpoint is not allowed',
    more: { refusal: 'spec.paging.endpoint is not one of channels.paging-endpoints' },
    reason: 'AddressRefused',
    names: 'channels.paging-endpoints',
  },
  {
    says: 'the receiver refused it',
    more: { lastFault: { reason: 'Unauthorized', text: '401' } as const },
    reason: 'Unauthorized',
    names: '401',
  },
  {
    says: 'three attempts failed in a row',
    more: { consecutiveFailures: 3 },
    reason: 'ConsecutiveFailures',
    names: '3',
  },
  { says: 'two attempts failed in a row', more: { consecutiveFailures: 2 }, status: 'True', reason: 'Validated' },
] satisfies { says: string; more: Partial<ChannelFacts>; status?: string; reason: string; names?: string }[]) {
  test(`when ${says}, Ready is ${status} ${reason}`, () => {
    const usable: ChannelFacts = {
      decoded,
      secrets: [{ secret, finding: { state: 'usable' } }],
      refusal: undefined,
      lastFault: undefined,
      consecutiveFailures: 0,
      proof: { provedAt: undefined, provedBy: undefined, missed: undefined },
    };
    const [ready, sound] = judgeChannel({ ...usable, ...more });
    assert.deepEqual([ready?.type, ready?.status, ready?.reason], ['Ready', status, reason]);
    assert.ok(ready?.message.includes(names), ready?.message);
    assert.equal(sound?.type, 'ConfigurationSound');
  });
}

test('Secrets are read only where the configuration allows it', () => {
  const mayRead = (namespaces: string[]): boolean => mayReadSecret(secret, { namespaces, labelled: [] });
  assert.deepEqual([mayRead(['other']), mayRead(['other', 'ns']), mayRead(['*'])], [false, true, true]);
});

test('a label is asked for where the configuration asks for it', () => {
  const labels = { 'cronjob-monitor.io/channel-secret': 'true' };
  const lacks = (labelled: string[], of: Record<string, string>): boolean =>
    lacksLabel(secret, of, { namespaces: ['*'], labelled });
  assert.deepEqual(
    [lacks([], {}), lacks(['other'], {}), lacks(['ns'], {}), lacks(['*'], {})],
    [false, false, true, true],
  );
  assert.deepEqual(
    [lacks(['*'], labels), lacks(['ns'], { ...labels, 'cronjob-monitor.io/channel-secret': '' })],
    [false, true],
  );
});

test('the status is ready as its condition is, and removes what is no more', () => {
  const figures: ChannelFigures = {
    alertsSentTotal: 4,
    alertsFailedTotal: 1,
    consecutiveFailures: 0,
    lastAlertTime: '2026-11-21T12:00:00Z',
    lastFailedTime: null,
    lastFailedError: 'x'.repeat(300),
    lastTestTime: null,
    lastTestResult: null,
    lastTestError: null,
    lastTestedGeneration: null,
  };
  const ready = { type: 'Ready', status: 'True', reason: 'Validated', message: '' } as const;
  const status = toChannelStatus(2, toConditions([ready], undefined, { now: 0, generation: 2 }), figures);
  assert.deepEqual([status.ready, status.observedGeneration, status.lastTestTime], [true, 2, null]);
  assert.equal(status.lastFailedError?.length, 256);
  const unknown = toConditions([{ ...ready, status: 'Unknown' }], undefined, { now: 0, generation: 2 });
  assert.equal(toChannelStatus(2, unknown, figures).ready, false);
});
