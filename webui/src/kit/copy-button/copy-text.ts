/** Copies; where the clipboard is refused (plain HTTP beyond localhost) it selects what is shown instead. */
export async function copyText(text: string, shown?: HTMLElement): Promise<'copied' | 'selected' | 'refused'> {
  try {
    await navigator.clipboard.writeText(text);
    return 'copied';
  } catch {
    // Refused, or not there at all without TLS: the keyboard still copies what is selected.
    if (!shown) return 'refused';
    const selection = getSelection();
    selection?.removeAllRanges();
    const range = document.createRange();
    range.selectNodeContents(shown);
    selection?.addRange(range);
    return 'selected';
  }
}
