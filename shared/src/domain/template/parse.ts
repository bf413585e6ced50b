/** A piece of a template: text as written, or the name of a value, such as `CronJob.Name`. */
type TemplatePart = { readonly text: string } | { readonly name: string; readonly written: string };

/** Text with placeholders of the form `{{ .CronJob.Name }}`, taken apart. */
interface Template {
  readonly parts: readonly TemplatePart[];
  /** What stands between double braces and is no placeholder: blocks, functions, pipes, a brace that is never closed. */
  readonly malformed: readonly string[];
}

/** Values of suggested fixes: resources.md section 8, detection.md section 6. */
export const suggestionPlaceholders = [
  'CronJob.Name',
  'CronJob.Namespace',
  'Namespace',
  'Name',
  'JobName',
  'ExitCode',
  'Reason',
  'Pod',
  'Container',
  'Image',
  'Node',
] as const;
export type SuggestionPlaceholder = (typeof suggestionPlaceholders)[number];

/** Values of messages: those of suggestions, and what only an alert has. alerting.md section 10.5. */
export const messagePlaceholders = [
  ...suggestionPlaceholders,
  'Cluster',
  'Monitor.Namespace',
  'Monitor.Name',
  'Job.Name',
  'Job.Trigger',
  'Alert.Id',
  'Alert.Type',
  'Alert.Subject',
  'Alert.Severity',
  'Alert.State',
  'Alert.Title',
  'Alert.Message',
  'Alert.Since',
  'Alert.Count',
  'Alert.Cause',
  'Alert.Scope',
  'Context.SuggestedFix',
  'Context.Logs',
  'Context.Events',
  'Links.CronJob',
  'Links.Alert',
] as const;

const placeholder = /^\s*\.([A-Za-z][A-Za-z0-9]*(?:\.[A-Za-z][A-Za-z0-9]*)*)\s*$/;

/** Never throws: what is no placeholder stays in the text as written and is listed in `malformed`. */
export function parseTemplate(text: string): Template {
  const parts: TemplatePart[] = [];
  const malformed: string[] = [];
  let from = 0;
  while (from < text.length) {
    const open = text.indexOf('{{', from);
    if (open < 0) break;
    const close = text.indexOf('}}', open + 2);
    if (close < 0) {
      malformed.push(text.slice(open, open + 40));
      break;
    }
    const written = text.slice(open, close + 2);
    const name = placeholder.exec(text.slice(open + 2, close))?.[1];
    if (name === undefined) malformed.push(written.slice(0, 80));
    if (open > from) parts.push({ text: text.slice(from, open) });
    parts.push(name === undefined ? { text: written } : { name, written });
    from = close + 2;
  }
  if (from < text.length) parts.push({ text: text.slice(from) });
  return { parts, malformed };
}

/** Names in the template that are not among `allowed`, each once, in order. */
export function unknownPlaceholders(template: Template, allowed: readonly string[]): string[] {
  const unknown = template.parts.flatMap((part) => ('name' in part && !allowed.includes(part.name) ? [part.name] : []));
  return [...new Set(unknown)];
}

/** What of a template is no placeholder that it may have, as written: unknown names, then what cannot be read. */
export function wrongPlaceholders(text: string, allowed: readonly string[]): string[] {
  const template = parseTemplate(text);
  return [...unknownPlaceholders(template, allowed).map((name) => `{{ .${name} }}`), ...template.malformed];
}

/** The values to fill in, by placeholder name. A name that is a key with `undefined` is missing: empty text. */
type TemplateValues = Readonly<Record<string, string | undefined>>;

/**
 * Fills a template. A known name without a value becomes empty text; an unknown name stays as written. `escape` makes a value
 * safe for its receiver; text of the template itself is never escaped. One pass: braces in a value are text.
 */
export function renderTemplate(
  template: Template,
  values: TemplateValues,
  escape: (value: string) => string = (value) => value,
): string {
  return template.parts
    .map((part) => {
      if (!('name' in part)) return part.text;
      return Object.hasOwn(values, part.name) ? escape(values[part.name] ?? '') : part.written;
    })
    .join('');
}

/** Fills the string leaves of a JSON value, not its keys: the result is JSON whatever the values hold. */
export function renderJsonTemplate(json: unknown, values: TemplateValues): unknown {
  if (typeof json === 'string') return renderTemplate(parseTemplate(json), values);
  if (Array.isArray(json)) return json.map((item) => renderJsonTemplate(item, values));
  if (typeof json === 'object' && json !== null) {
    return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, renderJsonTemplate(value, values)]));
  }
  return json;
}

/**
 * The template, or undefined when there is none or it cannot be used: then the message goes in the default form, for a message in
 * another form beats none. Validation names the same faults as a problem of the channel.
 */
export function usableTemplate(text: string | undefined): string | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  return wrongPlaceholders(text, messagePlaceholders).length === 0 ? text : undefined;
}
