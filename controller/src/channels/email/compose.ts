import { createTransport } from 'nodemailer';
import type { EmailPayload } from './payload.ts';

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
