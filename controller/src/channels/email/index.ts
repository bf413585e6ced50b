import { type EmailPayload, emailPayload } from '@cronjob-monitor/shared/domain';
import type { Channel } from '../channel.ts';
import { unusable } from '../secret-value.ts';
import { findAddressProblem } from './addresses.ts';
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
