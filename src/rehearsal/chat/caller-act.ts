/** What the person at the keyboard, or a script, has the caller do. */
export type CallerAct =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'press'; readonly keys: string }
  | { readonly kind: 'silence' }
  | { readonly kind: 'interrupt'; readonly by: { readonly text: string } | { readonly keys: string } }
  | { readonly kind: 'hang-up' }
  /** Nothing of the caller's: what can be typed, or the slots that are filled. */
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
 * Reads one line of the caller.
 * @param onlyKeys a value is expected that is keyed and never spoken: digits alone are keys
 * @returns what is wrong with the line, as a text, where it cannot be done
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
  // What was meant as a secret is not repeated.
  return KEYS.test(keys) ? { kind: 'press', keys } : '/keys needs keys: 0-9, * and #';
}
