import { Socket } from 'node:net';
import type { SendDeps, SendRequest } from '../channel.ts';
import { connectLimitMs, sendLimitMs } from '../limits.ts';
import { openSocket } from '../outbound-socket.ts';
import { delivered, failed, type Outcome } from '../outcome.ts';
import type { EmailTarget } from '../target.ts';
import { startTimeLimit } from '../time-limit.ts';
import { failedInTransport, toTransportFailure } from '../transport-failure.ts';
import { composeMail } from './compose.ts';
import type { EmailCredentials } from './credentials.ts';
import { judgeFailure, judgeResult, pendingOf } from './judge-smtp.ts';
import { emailPayload } from './payload.ts';
import { SmtpFailure, SmtpSession } from './smtp-session.ts';

/** One mail to all recipients that are still to be told. */
export async function sendEmail(
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
