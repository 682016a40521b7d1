/** An act of the caller, from the keyboard or a script. */
export type CallerAct =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'press'; readonly keys: string }
  | { readonly kind: 'silence' }
  | { readonly kind: 'interrupt'; readonly by: { readonly text: string } | { readonly keys: string } }
  | { readonly kind: 'hang-up' }
  /** Shows available input or filled slots; not an act of the caller. */
  | { readonly kind: 'show'; readonly what: 'help' | 'slots' };

/** One line each, for people. */
export const ACTS_HELP = [
  'text              the caller says it, once the bot has finished',
  '#123 or /keys 123 the caller presses keys: 0-9, * and #',
  'an empty line     the caller says nothing (also /silence)',
  '/interrupt TEXT   the caller talks over what the bot says now (or #1)',
  '/quit             the caller hangs up',
  '/slots            the slots and variables so far',
] as const;

const KEYS = /^[\d*#]+$/u;

/**
 * Parses one line of input.
 * @param onlyKeys a keyed value is expected: plain digits are keys
 * @returns an error text for an invalid line
 */
export function readAct(line: string, onlyKeys = false): CallerAct | string {
  const text = line.trim();
  if (text === '') return { kind: 'silence' };
  if (text.length > 1 && text.startsWith('#') && KEYS.test(text.slice(1))) return { kind: 'press', keys: text.slice(1) };
  const digits = text.replaceAll(/\s/gu, '');
  if (onlyKeys && KEYS.test(digits)) return { kind: 'press', keys: digits };
  if (!text.startsWith('/')) return { kind: 'say', text };
  const [, command = '', rest = ''] = /^\/(\S*)\s*(.*)$/u.exec(text) ?? [];
  switch (command) {
    case 'silence':
      return { kind: 'silence' };
    case 'keys':
      return readKeys(rest);
    case 'interrupt': {
      const by = readAct(rest);
      if (typeof by === 'string') return by;
      if (by.kind === 'say') return { kind: 'interrupt', by: { text: by.text } };
      if (by.kind === 'press') return { kind: 'interrupt', by: { keys: by.keys } };
      return '/interrupt needs what the caller says, or keys as #1';
    }
    case 'quit':
    case 'hangup':
      return { kind: 'hang-up' };
    case 'help':
    case 'slots':
      return { kind: 'show', what: command };
    default:
      return `there is no command /${command}; there are /keys, /silence, /interrupt, /quit, /slots and /help`;
  }
}

function readKeys(written: string): CallerAct | string {
  const keys = written.replaceAll(/\s/gu, '');
  // A line meant as a secret is not quoted.
  return KEYS.test(keys) ? { kind: 'press', keys } : '/keys needs keys: 0-9, * and #';
}
