/** A source without its comments, in which every string is a number in quotes: `import x from "3"` of the string `strings[3]`. */
export interface SourceText {
  readonly code: string;
  readonly strings: readonly string[];
}

/** After one of these a slash begins a regular expression, and no division. */
const beforeExpression = /(^|[(,=:[!&|?{};+\-*%<>~^]|\b(return|typeof|case|in|of|do|else|await|yield|void|throw))\s*$/;

/** Reads TypeScript or JavaScript as far as imports and names need it: comments, strings, templates, regular expressions. */
export function readSource(source: string): SourceText {
  const strings: string[] = [];
  let code = '';
  let at = 0;
  /** Of each open template, how many braces are open in its current `${…}`. */
  const templates: number[] = [];

  const takeString = (end: number) => {
    code += `"${strings.push(source.slice(at + 1, end)) - 1}"`;
    at = end + 1;
  };
  while (at < source.length) {
    const rest = source.slice(at, at + 2);
    const [character = ''] = rest;
    if (rest === '//') at = indexOrEnd(source, '\n', at);
    else if (rest === '/*') at = indexOrEnd(source, '*/', at) + 2;
    else if (character === "'" || character === '"') takeString(endOfString(source, at));
    else if (character === '/' && beforeExpression.test(code.slice(-20))) {
      code += '/ /';
      at = endOfExpression(source, at) + 1;
    } else if (character === '`' || (character === '}' && templates.at(-1) === 0)) {
      if (character === '}') templates.pop();
      const end = endOfTemplatePart(source, at + 1);
      code += '""';
      at = end + 1;
      if (source[end] === '$') {
        templates.push(0);
        at += 1;
      }
    } else {
      const open = templates.length - 1;
      if (character === '{' && open >= 0) templates[open] = (templates[open] ?? 0) + 1;
      if (character === '}' && open >= 0) templates[open] = (templates[open] ?? 0) - 1;
      code += character;
      at += 1;
    }
  }
  return { code, strings };
}

function indexOrEnd(source: string, text: string, from: number): number {
  const found = source.indexOf(text, from);
  return found < 0 ? source.length : found;
}

/** Index of the closing quote. */
function endOfString(source: string, start: number): number {
  let at = start + 1;
  while (at < source.length && source[at] !== source[start]) at += source[at] === '\\' ? 2 : 1;
  return at;
}

/** Index of the closing slash; a slash in brackets closes nothing. */
function endOfExpression(source: string, start: number): number {
  let inBrackets = false;
  let at = start + 1;
  for (; at < source.length && source[at] !== '\n'; at += 1) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === '[') inBrackets = true;
    else if (source[at] === ']') inBrackets = false;
    else if (source[at] === '/' && !inBrackets) break;
  }
  return at;
}

/** Index of the closing backquote, or of the dollar of the next `${`. */
function endOfTemplatePart(source: string, start: number): number {
  let at = start;
  while (at < source.length && source[at] !== '`' && !(source[at] === '$' && source[at + 1] === '{')) {
    at += source[at] === '\\' ? 2 : 1;
  }
  return at;
}
