import { type CallerAct, readAct } from './caller-act.ts';
import { type Expectation, readExpectation } from './expectation.ts';

/** Call settings of a script: options of `offhook chat` with the same names. */
export interface ScriptSettings {
  readonly bot?: string;
  readonly from?: string;
  readonly to?: string;
  readonly at?: string;
  readonly language?: string;
  readonly outbound?: boolean;
  /** Each `name=value`. */
  readonly parameter?: readonly string[];
}

export type ScriptStep = { /** From 1. */ readonly line: number; readonly text: string } & (
  | { readonly act: CallerAct }
  | { readonly expectation: Expectation }
);

export interface ChatScript {
  readonly settings: ScriptSettings;
  readonly steps: readonly ScriptStep[];
}

export interface ScriptProblem {
  readonly line: number;
  readonly message: string;
}

const SINGLE = ['bot', 'from', 'to', 'at', 'language'] as const;
const FORMS = '"> " for the caller, "< " for the bot, "[…]" for slots, actions and the end, "@" for settings, "#" for a comment';

/**
 * Parses a script: `> ` acts of the caller, `< ` expected words of the bot, `[…]` slots, actions and the end, `@name value` settings of the call at
 * the top, `#` a comment. Lines may end in CR LF; a byte order mark is skipped.
 */
export function readScript(text: string): ChatScript | { readonly problems: readonly ScriptProblem[] } {
  const steps: ScriptStep[] = [];
  const problems: ScriptProblem[] = [];
  let settings: ScriptSettings = {};
  for (const [index, raw] of text
    .replace(/^\u{FEFF}/u, '')
    .split(/\r\n|\n|\r/u)
    .entries()) {
    const line = index + 1;
    const written = raw.trim();
    const wrong = (message: string): void => void problems.push({ line, message });
    if (written === '' || written.startsWith('#')) continue;
    if (written.startsWith('@')) {
      if (steps.length > 0) wrong('settings come before the conversation');
      const next = withSetting(settings, written.slice(1));
      if (typeof next === 'string') wrong(next);
      else settings = next;
    } else if (written.startsWith('>')) {
      const act = readAct(written.slice(1));
      if (typeof act === 'string') wrong(act);
      else if (act.kind === 'show') wrong(`/${act.what} is for a conversation by hand`);
      else steps.push({ line, text: written, act });
    } else if (written.startsWith('<') || written.startsWith('[')) {
      const expectation = written.startsWith('<') ? readExpectation(written.slice(1)) : readBracket(written);
      if (typeof expectation === 'string') wrong(expectation);
      else steps.push({ line, text: written, expectation });
    } else wrong(`a line begins with ${FORMS}`);
  }
  if (problems.length === 0 && steps.length === 0) problems.push({ line: 1, message: 'the script has no conversation' });
  return problems.length > 0 ? { problems } : { settings, steps };
}

function readBracket(written: string): Expectation | string {
  return written.endsWith(']') ? readExpectation(written) : 'the closing "]" is missing';
}

function withSetting(settings: ScriptSettings, written: string): ScriptSettings | string {
  const [, name = '', value = ''] = /^(\S*)\s*(.*)$/u.exec(written) ?? [];
  if (name === 'outbound') return value === '' ? { ...settings, outbound: true } : '@outbound has no value';
  if (value === '' && (name === 'parameter' || SINGLE.some((each) => each === name))) return `@${name} needs a value`;
  if (name === 'parameter') {
    if (!/^[^=]+=/u.test(value)) return `@parameter needs name=value, not "${value}"`;
    return { ...settings, parameter: [...(settings.parameter ?? []), value] };
  }
  const single = SINGLE.find((each) => each === name);
  if (single === undefined)
    return `there is no setting @${name}; there are ${SINGLE.map((each) => `@${each}`).join(', ')}, @outbound, @parameter`;
  if (settings[single] !== undefined) return `@${name} is there twice`;
  return { ...settings, [single]: value };
}
