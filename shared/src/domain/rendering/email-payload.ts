import { isAboutAlert, type Message, type Outgoing } from '../delivery/message.ts';
import { toSafeMessage, withoutDetails } from '../delivery/safe-message.ts';
import { templateValuesOf } from '../delivery/template-values.ts';
import type { Instant } from '../instant.ts';
import { parseTemplate, renderTemplate, usableTemplate } from '../template/parse.ts';
import { cutEnd, toPlainLine } from '../text/cut.ts';
import { fit } from './fit.ts';
import { emptyDocument, type MessageDocument, toDocument } from './message-document.ts';
import type { EmailTarget, Form } from './target.ts';
import { toSections, toText } from './text.ts';

/** A mail before it is put into its own format. */
export interface EmailPayload {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly messageId: string;
  /** The root of the thread, which no mail carries: In-Reply-To and References. */
  readonly inReplyTo: string;
  readonly date: Instant;
  readonly headers: Readonly<Record<string, string>>;
  /** Makes the boundaries of its parts, so that the mail is the same on every attempt. */
  readonly boundary: string;
}

/** A line of a header is at most 998 characters (RFC 5322); subjects are read on phones. */
const mostSubject = 250;
const mostText = 64 * 1024;

export function emailPayload(outgoing: Outgoing, { email }: EmailTarget, form: Form): EmailPayload {
  const safe = toSafeMessage(outgoing.message);
  const message = form === 'full' ? safe : withoutDetails(safe);
  const domain = email.from.slice(email.from.lastIndexOf('@') + 1);
  const body = templateText(email.bodyTemplate, { ...outgoing, message });
  const { text, html } = fit(body === undefined ? toDocument(message) : { ...emptyDocument, message: body }, {
    render: (part) =>
      body === undefined
        ? { text: toText(part), html: toHtml(part) }
        : { text: part.message, html: toHtmlOfText(part.message) },
    sizeOf: (mail) => mail.text.length,
    budget: mostText,
  });
  return {
    from: email.from,
    to: email.to,
    subject: subjectOf({ ...outgoing, message }, email.subjectTemplate),
    text,
    html,
    messageId: `<${outgoing.deliveryId}@${domain}>`,
    inReplyTo: `<${outgoing.streamId}@${domain}>`,
    date: outgoing.createdAt,
    headers: headersOf(message),
    boundary: outgoing.deliveryId,
  };
}

/**
 * The same for the whole stream, `[WARNING] prod/nightly: job failed`, so that its mails are found together; one that tells the end
 * begins with it: `RESOLVED [WARNING] prod/nightly: job failed`. What joins them to a thread are the headers.
 */
function subjectOf(outgoing: Outgoing, template: string | undefined): string {
  const { severity, text } = outgoing.heading;
  const filled = toPlainLine(templateText(template, outgoing) ?? '');
  const subject = filled === '' ? toPlainLine(`[${severity.toUpperCase()}] ${text}`) : filled;
  const end = endOf(outgoing.message);
  return cutEnd(end === undefined || subject.startsWith(end) ? subject : `${end} ${subject}`, mostSubject);
}

function endOf(message: Message): 'RESOLVED' | 'CLOSED' | undefined {
  if (message.kind === 'digest')
    return message.data.digest.ended && message.data.digest.total === 0 ? 'RESOLVED' : undefined;
  if (message.kind !== 'closing') return undefined;
  return message.data.alert.state === 'expired' ? 'CLOSED' : 'RESOLVED';
}

function templateText(template: string | undefined, outgoing: Outgoing): string | undefined {
  const usable = usableTemplate(template);
  return usable && renderTemplate(parseTemplate(usable), templateValuesOf(outgoing));
}

function headersOf(message: Message): Record<string, string> {
  return {
    'Auto-Submitted': 'auto-generated',
    'List-Id': `<${listOf(message)}.cronjob-monitor>`,
    ...(isAboutAlert(message) && { 'X-Monitor-Alert': message.data.alert.id }),
    'X-Monitor-Kind': message.kind,
  };
}

function listOf(message: Message): string {
  if (!isAboutAlert(message)) return message.kind;
  return `${message.data.monitor.name}.${message.data.monitor.namespace}`;
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? character);
}

/** The message as HTML that any client shows: nothing is loaded from anywhere, nothing runs. */
function toHtml(document: MessageDocument): string {
  const { state, title, message, facts, links, notes, origin } = document;
  const rows = facts.map(
    ({ label, value }) => `<tr><th align="left">${escapeHtml(label)}</th><td>${escapeHtml(value)}</td></tr>`,
  );
  const sections = toSections(document).map(({ heading, lines, isOutput }) => {
    const text = escapeHtml(lines.join('\n'));
    return `<h3>${heading}</h3>\n${isOutput ? `<pre style="white-space: pre-wrap; overflow-wrap: anywhere">${text}</pre>` : `<p>${withBreaks(text)}</p>`}`;
  });
  const anchors = links.map(({ text, href }) => `<a href="${escapeHtml(href)}">${escapeHtml(text)}</a>`);
  const ending = [...notes, origin.join(', ')].filter((line) => line !== '').map(escapeHtml);
  return toPage([
    state && `<p><strong>${escapeHtml(state)}</strong></p>`,
    `<h2>${escapeHtml(title)}</h2>`,
    message && `<p>${withBreaks(escapeHtml(message))}</p>`,
    rows.length > 0 ? `<table cellpadding="3">${rows.join('\n')}</table>` : '',
    ...sections,
    anchors.length > 0 ? `<p>${anchors.join(' · ')}</p>` : '',
    ending.length > 0 ? `<p><small>${ending.join('<br>')}</small></p>` : '',
  ]);
}

/** What a template made, which is plain text. */
function toHtmlOfText(text: string): string {
  return toPage([`<div style="white-space: pre-wrap">${escapeHtml(text)}</div>`]);
}

function toPage(parts: readonly string[]): string {
  const body = parts.filter((part) => part !== '').join('\n');
  return `<!doctype html>\n<html><head><meta charset="utf-8"></head><body style="font-family: sans-serif">\n${body}\n</body></html>\n`;
}

function withBreaks(escaped: string): string {
  return escaped.replaceAll('\n', '<br>\n');
}
