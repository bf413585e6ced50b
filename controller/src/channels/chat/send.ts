import type { ChatFormat as FormatName } from '@cronjob-monitor/shared/contract';
import {
  cutEnd,
  keepEnd,
  parseTemplate,
  renderTemplate,
  severityOf,
  templateValuesOf,
  toSafeMessage,
  type Message,
  type Outgoing,
} from '@cronjob-monitor/shared/domain';
import type { Form, SendDeps, SendRequest } from '../channel.ts';
import { fit } from '../fit.ts';
import { emptyDocument, toDocument, type MessageDocument } from '../message-document.ts';
import { longestMs, sendHttp } from '../outbound-http.ts';
import { failed, type Outcome } from '../outcome.ts';
import { jsonHeaders, judgeAnswer } from '../send-and-judge.ts';
import type { ChatTarget } from '../target.ts';
import { failedInTransport } from '../transport-failure.ts';
import { usableTemplate } from '../usable-template.ts';
import { discord } from './discord.ts';
import { escapeText, withoutBackticks } from './escape.ts';
import type { ChatFormat } from './format.ts';
import { googlechat } from './googlechat.ts';
import { mattermost } from './mattermost.ts';
import { ntfy } from './ntfy.ts';
import { slack, slackText, standaloneText } from './slack.ts';
import { teams } from './teams.ts';
import { telegram } from './telegram.ts';

/** The secret of this channel: the address is all that a sender needs. */
export interface ChatCredentials {
  readonly url: URL;
}

/** Every chat that a channel can speak to. One more is a file and a line. */
export const formats: Readonly<Record<FormatName, ChatFormat>> = {
  slack,
  teams,
  googlechat,
  discord,
  mattermost,
  telegram,
  ntfy,
};

export async function sendChat(
  { outgoing, target, credentials, form }: SendRequest<ChatTarget, ChatCredentials>,
  deps: SendDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const format = formats[target.chat.format];
  const rendered = chatPayload(outgoing, target, form);
  const { url, body } = format.address?.(credentials.url, rendered, outgoing.deliveryId) ?? {
    url: credentials.url,
    body: rendered,
  };
  const request = { url, method: 'POST', headers: jsonHeaders, body: JSON.stringify(body) } as const;
  const result = await sendHttp(request, deps, signal);
  if ('failure' in result) return failedInTransport(result.failure);
  const { answer } = result;
  const asked = answer.retryAfterMs ?? format.patienceMsOf?.(answer.text);
  const outcome = judgeAnswer({ ...answer, retryAfterMs: asked && Math.min(asked, longestMs) }, form);
  if (outcome.kind === 'failed' || format.takes(answer)) return outcome;
  return failed('retry', 'serverError', `It answered ${answer.status} and did not say that it took the message`, {
    httpStatus: answer.status,
    maybeSent: true,
  });
}

const mostLogBytes = 16 * 1024;

/** The body but for what the address adds: the same for the same arguments. */
export function chatPayload(outgoing: Outgoing, { chat }: ChatTarget, form: Form): object {
  const message = toSafeMessage(outgoing.message, mostLogBytes);
  const document = toDocument(message);
  const template = form === 'full' ? usableTemplate(chat.messageTemplate) : undefined;
  const room = chat.defaultChannel;
  if (chat.format === 'slack') {
    const filled = template && fill(template, { ...outgoing, message }, escapeText);
    if (filled !== undefined) return slackText(filled, room);
    if (form === 'reduced') return slackText(standaloneText(document), room);
  }
  const filled = template && fill(template, { ...outgoing, message }, (text) => text);
  const said = filled === undefined ? document : { ...emptyDocument, message: filled };
  const format = formats[chat.format];
  const about = { room, streamId: outgoing.streamId, severity: severityOf(message), isEnd: isEnd(message) };
  return fit(form === 'reduced' ? reduced(document) : said, {
    ...format,
    render: (part) => format.render(part, about),
  });
}

/** What a receiver that refused the whole message gets. */
function reduced({ state, title, message, links }: MessageDocument): MessageDocument {
  return { ...emptyDocument, state, title, message, links: links.slice(0, 1) };
}

function isEnd(message: Message): boolean {
  if (message.kind === 'digest') return message.data.digest.ended && message.data.digest.total === 0;
  return message.kind === 'closing' || (message.kind === 'drill' && message.data.drill.news === 'over');
}

/** What a template gets of the long values, and the most characters of what it makes. */
const most = { logs: 1_500, events: 800, text: 3_000 };

/** What a template says; undefined when nothing is left to say. */
function fill(template: string, outgoing: Outgoing, escape: (text: string) => string): string | undefined {
  const values = templateValuesOf(outgoing);
  const bounded = {
    ...values,
    'Context.Logs': values['Context.Logs'] && withoutBackticks(keepEnd(values['Context.Logs'], most.logs)),
    'Context.Events': values['Context.Events'] && withoutBackticks(cutEnd(values['Context.Events'], most.events)),
  };
  const text = renderTemplate(parseTemplate(template), bounded, escape);
  // A cut may have split an escaped character.
  return text.trim() === '' ? undefined : cutEnd(text, most.text).replace(/&[a-z]{0,3}…$/, '…');
}
