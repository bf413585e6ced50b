import type { ChannelSpec } from '@cronjob-monitor/shared/kube';

/** A webhook without templates, whose limits hold nothing back. */
export function aWebhookSpec(urlSecretRef: {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}): ChannelSpec {
  return {
    type: 'webhook',
    webhook: {
      urlSecretRef,
      format: 'standard',
      readSilences: true,
      method: 'POST',
      headers: {},
      payloadTemplate: undefined,
      signingSecretRef: undefined,
      sendUpdates: false,
    },
    rateLimiting: { maxAlertsPerHour: 100_000, burstLimit: 10_000 },
    sendResolved: true,
    sendRecovered: false,
    testOnSave: false,
  };
}
