import type { ChatFormat as FormatName } from '../../../contract/index.ts';
import type { Message, Outgoing } from '../../delivery/message.ts';
import { toSafeMessage } from '../../delivery/safe-message.ts';
import { templateValuesOf } from '../../delivery/template-values.ts';
import { severityOf } from '../../delivery/title.ts';
import { parseTemplate, renderTemplate, usableTemplate } from '../../template/parse.ts';
import { cutEnd } from '../../text/cut.ts';
import { fit } from '../fit.ts';
import { emptyDocument, type MessageDocument, toDocument } from '../message-document.ts';
import type { ChatTarget, Form } from '../target.ts';
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

/** The body but for what the address adds: the same for the same arguments. */
export function chatPayload(outgoing: Outgoing, { chat }: ChatTarget, form: Form): object {
  const message = toSafeMessage(outgoing.message);
  const document = toDocument(message);
  const template = form === 'full' ? usableTemplate(chat.messageTemplate) : undefined;
  const room = chat.defaultChannel;
  const standalone = standaloneText(document);
  const isSlack = chat.format === 'slack';
  const filled = template && fill(template, { ...outgoing, message }, document, isSlack ? escapeText : (text) => text);
  if (isSlack && filled !== undefined) return slackText(filled, room);
  if (isSlack && form === 'reduced') return slackText(standalone, room);
  const said = filled === undefined ? document : { ...emptyDocument, message: filled };
  const format = chatServices[chat.format];
  const { streamId } = outgoing;
  const about = { room, streamId, severity: severityOf(message), isEnd: isEnd(message), standalone };
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

/** Most characters of what a template makes. */
const mostText = 3_000;

/** What a template says, of a log and events so much as fits; undefined when nothing is left to say. */
function fill(
  template: string,
  outgoing: Outgoing,
  document: MessageDocument,
  escape: (text: string) => string,
): string | undefined {
  const values = templateValuesOf(outgoing);
  const parsed = parseTemplate(template);
  const text = fit(document, {
    render: ({ log, logNote, events }) => {
      const said = log === document.log ? log : `${logNote}\n${log}`;
      const bounded = {
        ...values,
        'Context.Logs': values['Context.Logs'] && withoutBackticks(said),
        'Context.Events': values['Context.Events'] && withoutBackticks(events.join('\n')),
      };
      return renderTemplate(parsed, bounded, escape);
    },
    sizeOf: ({ length }) => length,
    budget: mostText,
  });
  // A cut may have split an escaped character.
  return text.trim() === '' ? undefined : cutEnd(text, mostText).replace(/&[a-z]{0,3}…$/, '…');
}
