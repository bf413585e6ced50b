import { toasts } from '../toast/toasts.svelte.ts';

/**
 * Copies a text and says so. Where the clipboard is refused (plain HTTP beyond localhost) what is shown is selected instead, or the text is
 * told.
 */
export async function copy(text: string, shown?: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toasts.say('Copied');
  } catch {
    // Refused, or not there at all without TLS: the keyboard still copies what is selected.
    if (!shown) {
      toasts.say(`The clipboard was refused. The text: ${text}`);
      return;
    }
    const selection = getSelection();
    selection?.removeAllRanges();
    const range = document.createRange();
    range.selectNodeContents(shown);
    selection?.addRange(range);
    toasts.say('The clipboard was refused. The text is selected: copy it with the keyboard');
  }
}
