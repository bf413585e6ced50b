import MailComposer from 'nodemailer/lib/mail-composer';
import type { EmailPayload } from './payload.ts';

/** The mail in its own format (RFC 5322): plain text first, HTML second. The same bytes for the same payload. */
export async function composeMail(payload: EmailPayload): Promise<Buffer> {
  const { from, to, subject, text, html, messageId, inReplyTo, date, headers, boundary } = payload;
  const toAddress = (address: string): { name: string; address: string } => ({ name: '', address });
  return new MailComposer({
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
    disableFileAccess: true,
    disableUrlAccess: true,
    newline: 'win',
  })
    .compile()
    .build();
}
