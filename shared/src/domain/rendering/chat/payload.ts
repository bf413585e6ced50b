import type { ChatFormat as FormatName } from '../../../contract/index.ts';
import type { Message, Outgoing } from '../../delivery/message.ts';
import { toSafeMessage } from '../../delivery/safe-message.ts';
import { templateValuesOf } from '../../delivery/template-values.ts';
import { severityOf } from '../../delivery/title.ts';
import { parseTemplate } from '../../template/parse.ts';
import { renderTemplate } from '../../template/render.ts';
import { cutEnd, keepEnd } from '../../text/cut.ts';
import { fit } from '../fit.ts';
import { emptyDocument, toDocument, type MessageDocument } from '../message-document.ts';
import type { ChatTarget, Form } from '../target.ts';
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

/** Every chat that a channel can speak to. One more is a file and a line. */
export const chatServices: Readonly<Record<FormatName, ChatFormat>> = {
  slack,
  teams,
  googlechat,
  discord,
  mattermost,
  telegram,
  ntfy,
};

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
  const format = chatServices[chat.format];
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
