import type { Form } from '../channel.ts';
import { delivered, failed, type Failed, type Outcome, type Progress } from '../outcome.ts';
import { failedInTransport, toTransportFailure } from '../transport-failure.ts';
import type { Rejection, SmtpFailure, SmtpResult } from './smtp-session.ts';

export const noProgress: Progress = { accepted: [], refused: [] };

/** Recipients that are still to be told. */
export function pendingOf(to: readonly string[], progress: Progress | undefined): string[] {
  const done = new Set([...(progress?.accepted ?? []), ...(progress?.refused ?? [])]);
  return to.filter((recipient) => !done.has(recipient));
}

/** The mail was taken: for all, or for some while others are refused for good or asked to be tried later. */
export function judgeResult({ accepted, rejected }: SmtpResult, before: Progress | undefined): Outcome {
  const progress = merge(before, { accepted, refused: refusedForGood(rejected) });
  return delivered({ progress, unfinished: rejected.some((rejection) => !isForGood(rejection)) });
}

/** What the end of a session means for the delivery: alerting.md section 6, its SMTP words. */
export function judgeFailure(failure: SmtpFailure, form: Form, before: Progress | undefined): Outcome {
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
