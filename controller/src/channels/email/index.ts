import { emailPayload, type EmailPayload, type EmailTarget } from '@cronjob-monitor/shared/domain';
import type { Channel } from '../channel.ts';
import { unusable } from '../secret-value.ts';
import { emailCredentialsOf, type EmailCredentials } from './credentials.ts';
import { sendEmail } from './send.ts';

/** One mail to all addresses of the channel. */
export const email: Channel<'email', EmailCredentials, EmailPayload> = {
  type: 'email',
  paceOf: () => ({ inFlight: 2, gapMs: 0 }),
  credentialsOf: emailCredentialsOf,
  hostsOf: ({ email: { from, to } }, { host }) => {
    const problem = findAddressProblem({ from, to });
    return problem === undefined ? [host] : unusable(problem, 'rejected');
  },
  payloadOf: emailPayload,
  send: sendEmail,
};

/** One mail is for so many. */
const mostRecipients = 50;

/** What keeps a mail from being addressed. Line breaks in an address would be headers or commands of another's. */
export function findAddressProblem({ from, to }: Pick<EmailTarget['email'], 'from' | 'to'>): string | undefined {
  if (!isAddress(from)) return 'spec.email.from is no usable address';
  if (to.length === 0 || to.length > mostRecipients) return `spec.email.to needs 1 to ${mostRecipients} addresses`;
  return to.every(isAddress) ? undefined : 'spec.email.to has an address that cannot be used';
}

function isAddress(text: string): boolean {
  return /^[^\s<>\0]+@[^\s<>\0]+$/.test(text);
}
