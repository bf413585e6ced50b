import { messagePlaceholders, parseTemplate, unknownPlaceholders } from '../template/parse.ts';

/**
 * The template, or undefined when there is none or it cannot be used: then the message goes in the default form, for a message in
 * another form beats none. Validation names the same faults as a problem of the channel.
 */
export function usableTemplate(text: string | undefined): string | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const template = parseTemplate(text);
  const isGood = template.malformed.length === 0 && unknownPlaceholders(template, messagePlaceholders).length === 0;
  return isGood ? text : undefined;
}
