import type { RenderedMessage } from '@cronjob-monitor/shared/contract';

/** Forms in which a message is shown. */
type RenderedForm = 'text' | 'html' | 'blocks' | 'body';

const words: Readonly<Record<RenderedForm, string>> = {
  text: 'As read',
  html: 'HTML source',
  blocks: 'Blocks',
  body: 'As sent',
};

/** The forms that the message has, as choices. */
export function formsOf(message: RenderedMessage): { readonly id: RenderedForm; readonly word: string }[] {
  const forms: readonly RenderedForm[] = ['text', 'html', 'blocks', 'body'];
  return forms.filter((id) => message[id] !== null).map((id) => ({ id, word: words[id] }));
}

/** One form as text: JSON with a field on a line. */
export function formOf(message: RenderedMessage, form: string): string {
  if (form === 'blocks') return JSON.stringify(message.blocks, null, 2);
  if (form === 'html') return message.html ?? '';
  if (form !== 'body') return message.text;
  try {
    return JSON.stringify(JSON.parse(message.body ?? ''), null, 2);
  } catch {
    return message.body ?? ''; // A receiver may be sent what is no JSON.
  }
}
