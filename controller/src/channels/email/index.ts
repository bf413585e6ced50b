import { emailPayload, type EmailPayload, type EmailTarget, type Form } from '@cronjob-monitor/shared/domain';
import { type Channel, type SendDeps, type SendRequest, connectLimitMs, sendLimitMs } from '../channel.ts';
import { unusable } from '../secret-value.ts';
import {
  emailCredentialsOf,
  type EmailCredentials,
  SmtpFailure,
  SmtpSession,
  type Rejection,
  type SmtpResult,
} from './smtp-session.ts';
import { Socket, connect } from 'node:net';
import { createTransport } from 'nodemailer';
import { delivered, failed, type Outcome, type Failed, type Progress } from '../outcome.ts';
import { orAborted, startTimeLimit } from '@cronjob-monitor/shared/process';
import {
  addressRefused,
  failedInTransport,
  nameUnknown,
  toTransportFailure,
  type TransportFailure,
} from '../transport-failure.ts';
import { lookupIn, reach, bareHost } from '../reach.ts';

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

/** One mail to all recipients that are still to be told. */
async function sendEmail(
  request: SendRequest<EmailTarget, EmailCredentials>,
  deps: SendDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { outgoing, target, credentials, form, progress } = request;
  const to = pendingOf(target.email.to, progress);
  if (to.length === 0) return nobodyLeft(request);

  const whole = startTimeLimit(deps.clock, sendLimitMs, signal);
  const connecting = startTimeLimit(deps.clock, connectLimitMs, whole.signal);
  let session: SmtpSession | undefined;
  try {
    const content = await composeMail(emailPayload(outgoing, target, form));
    const socket = await openSocket(credentials, deps, connecting.signal);
    connecting.end();
    if (!(socket instanceof Socket)) return failedInTransport(socket, { progress });
    session = new SmtpSession(socket, credentials, target.email.tls);
    const envelope = { from: target.email.from, to };
    return judgeResult(await session.deliver({ envelope, content }, whole.signal), progress);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SmtpFailure) return judgeFailure(error, form, progress);
    const failure = toTransportFailure({
      phase: session ? 'exchange' : 'connect',
      timedOut: whole.passed || connecting.passed,
      code: (error as { code?: string }).code, // of the system, when the connection could not be opened
    });
    return failedInTransport({ ...failure, wrote: session?.messageBegun ?? false }, { progress });
  } finally {
    connecting.end();
    whole.end();
  }
}

/** The list of recipients may have become shorter since the last attempt. */
function nobodyLeft({ progress }: SendRequest<EmailTarget, EmailCredentials>): Outcome {
  const wasTold = progress !== undefined && progress.accepted.length > 0;
  return wasTold ? delivered({ progress }) : failed('dead', 'smtp', 'no recipient is left', { progress });
}

/** The mail in its own format (RFC 5322): plain text first, HTML second. The same bytes for the same payload. */
export async function composeMail(payload: EmailPayload): Promise<Buffer> {
  const { from, to, subject, text, html, messageId, inReplyTo, date, headers, boundary } = payload;
  const toAddress = (address: string): { name: string; address: string } => ({ name: '', address });
  // This transport writes the mail down and sends nothing; it reads no file and no address that a payload may name.
  const writer = createTransport(
    { streamTransport: true, buffer: true, newline: 'windows' },
    { disableFileAccess: true, disableUrlAccess: true },
  );
  const { message } = await writer.sendMail({
    from: toAddress(from),
    to: to.map(toAddress),
    subject,
    text,
    html,
    messageId,
    inReplyTo,
    references: inReplyTo,
    date: new Date(date),
    headers,
    baseBoundary: boundary,
  });
  return message as Buffer; // `buffer` is set above
}

const noProgress: Progress = { accepted: [], refused: [] };

/** Recipients that are still to be told. */
function pendingOf(to: readonly string[], progress: Progress | undefined): string[] {
  const done = new Set([...(progress?.accepted ?? []), ...(progress?.refused ?? [])]);
  return to.filter((recipient) => !done.has(recipient));
}

/** The mail was taken: for all, or for some while others are refused for good or asked to be tried later. */
function judgeResult({ accepted, rejected }: SmtpResult, before: Progress | undefined): Outcome {
  const progress = merge(before, { accepted, refused: refusedForGood(rejected) });
  return delivered({ progress, unfinished: rejected.some((rejection) => !isForGood(rejection)) });
}

/** What the end of a session means for the delivery: alerting.md section 6, its SMTP words. */
function judgeFailure(failure: SmtpFailure, form: Form, before: Progress | undefined): Outcome {
  const { stage, replyCode, code, rejected } = failure;
  const facts = { progress: before };
  if (stage === 'recipients') return judgeRecipients(rejected, before);
  if (code === 'ETLS') return failed('retry', 'tls', 'no encrypted connection could be made', facts);
  if (replyCode === undefined) return judgeSilence(failure, form, before);
  const isPermanent = replyCode >= 500;
  if (stage === 'login' && isPermanent) {
    return failed('park', 'unauthorized', `The mail server refused the login (${replyCode})`, facts);
  }
  if (stage === 'sender' && replyCode === 530) {
    return failed('park', 'unauthorized', 'The mail server asks for a login (530)', facts);
  }
  const isTooLarge = stage === 'sender' && replyCode === 552;
  if (isPermanent && (stage === 'message' || isTooLarge)) return refusedMessage(replyCode, form, facts);
  if (isPermanent && stage === 'sender') {
    return failed('dead', 'smtp', `The mail server refused the sender (${replyCode})`, facts);
  }
  // A server that greets with a refusal refuses us for now, not this mail.
  return failed('retry', 'smtp', `The mail server answered ${replyCode}`, facts);
}

function refusedMessage(replyCode: number, form: Form, facts: Pick<Partial<Failed>, 'progress'>): Failed {
  const next = form === 'reduced' ? 'dead' : 'reduce';
  return failed(next, 'smtp', `The mail server refused the message (${replyCode})`, facts);
}

/** No recipient was accepted in this attempt; some may have been before. */
function judgeRecipients(rejected: readonly Rejection[], before: Progress | undefined): Outcome {
  const progress = merge(before, { accepted: [], refused: refusedForGood(rejected) });
  const code = rejected[0]?.replyCode ?? '';
  if (rejected.some((rejection) => !isForGood(rejection))) {
    return failed('retry', 'smtp', `The mail server asks to try its recipients later (${code})`, { progress });
  }
  if (progress.accepted.length > 0) return delivered({ progress });
  return failed('dead', 'smtp', `The mail server refused all recipients (${code})`, { progress });
}

/** It ended without a reply. */
function judgeSilence({ code, maybeSent }: SmtpFailure, form: Form, before: Progress | undefined): Outcome {
  const facts = { progress: before };
  if (code === 'EMESSAGE') return refusedMessage(552, form, facts); // larger than the server says it takes
  if (code === 'EAUTH') return failed('park', 'unauthorized', 'The mail server knows no login that we know', facts);
  const failure = toTransportFailure({
    phase: maybeSent ? 'exchange' : 'connect',
    timedOut: code === 'ETIMEDOUT',
    code,
  });
  return failedInTransport({ ...failure, wrote: maybeSent }, facts);
}

function refusedForGood(rejected: readonly Rejection[]): string[] {
  return rejected.filter(isForGood).map(({ recipient }) => recipient);
}

function isForGood({ replyCode }: Rejection): boolean {
  return replyCode !== undefined && replyCode >= 500;
}

function merge(before: Progress = noProgress, now: Progress): Progress {
  return { accepted: [...before.accepted, ...now.accepted], refused: [...before.refused, ...now.refused] };
}

/**
 * A connection to a checked address, for protocols that are not HTTP. Rejects with the reason of an aborted signal or with the
 * system's error.
 */
async function openSocket(
  { host, port }: { readonly host: string; readonly port: number },
  deps: SendDeps,
  signal: AbortSignal,
): Promise<Socket | TransportFailure> {
  const reached = await orAborted(reach(host, deps), signal);
  if (!('addresses' in reached)) return reached.refused === 'address' ? addressRefused : nameUnknown;
  const socket = connect({ host: bareHost(host), port, lookup: lookupIn(reached.addresses) });
  try {
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return socket;
  } catch (error) {
    socket.on('error', () => {}); // It is over, and said.
    socket.destroy();
    throw error;
  }
}
