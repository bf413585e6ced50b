import type { MessageDocument } from '../message-document.ts';
import { toSections } from './text.ts';

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? character);
}

/** The message as HTML that any client shows: nothing is loaded from anywhere, nothing runs. */
export function toHtml(document: MessageDocument): string {
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
export function toHtmlOfText(text: string): string {
  return toPage([`<div style="white-space: pre-wrap">${escapeHtml(text)}</div>`]);
}

function toPage(parts: readonly string[]): string {
  const body = parts.filter((part) => part !== '').join('\n');
  return `<!doctype html>\n<html><head><meta charset="utf-8"></head><body style="font-family: sans-serif">\n${body}\n</body></html>\n`;
}

function withBreaks(escaped: string): string {
  return escaped.replaceAll('\n', '<br>\n');
}
