import {
  parseTemplate,
  renderTemplate,
  templateValuesOf,
  toSafeMessage,
  cutEnd,
  keepEnd,
  type Outgoing,
} from '@cronjob-monitor/shared/domain';
import type { SendDeps, SendRequest, Form } from '../channel.ts';
import type { Outcome } from '../outcome.ts';
import { jsonHeaders, sendAndJudge } from '../send-and-judge.ts';
import type { ChatTarget } from '../target.ts';
import { toDocument, type MessageDocument } from '../message-document.ts';
import { usableTemplate } from '../usable-template.ts';
import { toBlocks, type Block } from './blocks.ts';
import { escapeBeginning, escapeText, withoutBackticks } from './escape.ts';

/** The secret of this channel: the address is all that a sender needs. */
export interface ChatCredentials {
  readonly url: URL;
}

export async function sendChat(
  { outgoing, target, credentials, form }: SendRequest<ChatTarget, ChatCredentials>,
  deps: SendDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const body = JSON.stringify(chatPayload(outgoing, target, form));
  return sendAndJudge({ url: credentials.url, method: 'POST', headers: jsonHeaders, body }, form, deps, signal);
}

export interface ChatPayload {
  readonly text: string;
  readonly blocks?: readonly Block[];
  /** Newer webhooks ignore it. */
  readonly channel?: string;
  readonly unfurl_links: false;
  readonly unfurl_media: false;
}

/** Characters of the text that stands alone, and of its parts. */
const most = { text: 3_000, title: 300, message: 1_000, reason: 150, fix: 1_000, link: 540 };
const mostLogBytes = 16 * 1024;
/** What a template gets of the long values. */
const mostInTemplate = { logs: 1_500, events: 800 };

/**
 * A message to a chat service that speaks the form of Slack's incoming webhooks. `text` says all that matters: a receiver that
 * knows no blocks still gets the news. https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 */
export function chatPayload(outgoing: Outgoing, { chat }: ChatTarget, form: Form): ChatPayload {
  const message = toSafeMessage(outgoing.message, mostLogBytes);
  const document = toDocument(message);
  const template = form === 'full' ? usableTemplate(chat.messageTemplate) : undefined;
  const filled = template && fill(template, { ...outgoing, message });
  return {
    text: filled ?? standaloneText(document),
    ...(filled === undefined && form === 'full' && { blocks: toBlocks(document) }),
    ...(chat.defaultChannel !== undefined && chat.defaultChannel !== '' && { channel: chat.defaultChannel }),
    unfurl_links: false,
    unfurl_media: false,
  };
}

/** Title, message, reason, fix and link, each on lines of its own. */
function standaloneText({ title, message, facts, fix, links, alerts }: MessageDocument): string {
  const valueOf = (name: string): string => facts.find((fact) => fact.name === name)?.value ?? '';
  const reason = [valueOf('exitCode') && `Exit code ${valueOf('exitCode')}`, valueOf('reason')]
    .filter(Boolean)
    .join(', ');
  const link = escapeText(links[0]?.href ?? '');
  return [
    escapeBeginning(title, most.title),
    escapeBeginning([message, ...alerts].filter(Boolean).join('\n'), most.message),
    escapeBeginning(reason, most.reason),
    fix && escapeBeginning(`Suggested fix: ${fix}`, most.fix),
    link.length <= most.link ? link : '',
  ]
    .filter(Boolean)
    .join('\n');
}

/** Undefined when nothing is left to say. */
function fill(template: string, outgoing: Outgoing): string | undefined {
  const values = templateValuesOf(outgoing);
  const bounded = {
    ...values,
    'Context.Logs': values['Context.Logs'] && withoutBackticks(keepEnd(values['Context.Logs'], mostInTemplate.logs)),
    'Context.Events':
      values['Context.Events'] && withoutBackticks(cutEnd(values['Context.Events'], mostInTemplate.events)),
  };
  const text = renderTemplate(parseTemplate(template), bounded, escapeText);
  // A cut may have split an escaped character.
  return text.trim() === '' ? undefined : cutEnd(text, most.text).replace(/&[a-z]{0,3}…$/, '…');
}
