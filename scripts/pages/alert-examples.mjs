// Writes the examples of docs/alerts.md with the wording of the service; with --check it only tells whether they are current.
import { keepSections, table } from './written-page.mjs';
import { inNode24 } from '../in-node-24.mjs';

await inNode24();
const { getChannel } = await import('../../controller/src/channels/index.ts');
const { digestBody, headingOf } = await import('../../shared/src/domain/index.ts');
const { cronJob, findExamples, slotAt } = await import('./example-findings.mjs');
const { exampleOutgoing } = await import('./example-message.mjs');

const target = { type: 'email', email: { smtpSecretRef: {}, from: 'monitor@example.org', to: ['team@example.org'] } };

/** What a reader of a mail sees first: what is so now, the title, and the sentences where there are some. */
function mailOf(outgoing) {
  const [state, , title, , message] = getChannel('email').payloadOf(outgoing, target, 'full').text.split('\n');
  return { state, title, message };
}

function digestOf(cause, count, ended = false) {
  const alerts = Array.from({ length: count }, (_, index) => ({
    id: String(index),
    type: 'missedSchedule',
    subject: null,
    severity: 'warning',
    ...cronJob,
    since: new Date(slotAt).toISOString(),
    state: 'active',
    endedAt: null,
  }));
  const message = {
    kind: 'digest',
    data: { cluster: null, digest: { id: '', cause, ended, ...digestBody(alerts) }, links: { alerts: null } },
  };
  return {
    message,
    heading: headingOf(message),
    place: null,
    deliveryId: '',
    streamId: '',
    createdAt: slotAt,
    source: 'cronjob-monitor-1f2e3d4c',
  };
}

const expired = { state: 'expired', closeCause: 'cronJobDeleted' };

/** What happens to the first example afterwards, and what stands for many alerts. */
const others = [
  ['It lasts, and it was not acknowledged.', mailOf(exampleOutgoing('reminder'))],
  ['It came and went four times within an hour.', mailOf(exampleOutgoing('flapping'))],
  ['The next run succeeds.', mailOf(exampleOutgoing('closing'))],
  ['Its CronJob is deleted.', mailOf(exampleOutgoing('closing', expired))],
  ['34 CronJobs have trouble at the same time.', mailOf(digestOf('storm', 34))],
  ['That is over, but for two.', mailOf(digestOf('storm', 2, true))],
  ['Twelve messages have waited for the limit of their channel.', mailOf(digestOf('rateLimit', 12))],
];

const rows = findExamples().map(({ type, subject, happened, title, message }) => [
  `\`${type}\`${subject === undefined ? '' : `, \`${subject}\``}`,
  happened,
  `**${title}**<br>${message}`,
]);
keepSections(
  'alerts.md',
  {
    'the examples': table(['type', 'what happened', 'what the message says'], rows),
    'what follows': table(
      ['what happened', 'how a mail begins'],
      others.map(([happened, { state, title, message }]) => [happened, `${state}<br>**${title}**<br>${message}`]),
    ),
  },
  'alert-examples.mjs',
);
