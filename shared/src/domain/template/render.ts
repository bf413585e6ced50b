import { parseTemplate, type Template, messagePlaceholders, wrongPlaceholders } from './parse.ts';

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
