import { failOverText } from '../../dialog/fail-over.ts';
import type { AudibleAction, DialogAction } from '../../dialog/port.ts';
import type { AnswerReading } from '../../language/index.ts';
import { coloured } from '../shell/output.ts';
import type { ChatEvent } from '../../rehearsal/chat/chat-event.ts';

/** Prints a conversation for people, as `offhook call` prints a call. */
export class ChatView {
  readonly #print: (line: string) => void;
  readonly #typed: boolean;
  #language: string | undefined;
  #voice: string | undefined;
  /** The kind of value that was asked for last. */
  #asked: string | undefined;

  /** @param typed whether the caller's lines stand on the screen already, since they were typed there */
  constructor(print: (line: string) => void, typed: boolean) {
    this.#print = print;
    this.#typed = typed;
  }

  show(event: ChatEvent): void {
    switch (event.type) {
      case 'call': {
        const { bot, kind, direction, from, to, language } = event;
        this.#language = language;
        const way = direction === 'outbound' ? `calls ${to}` : `answers ${from}`;
        return this.#print(coloured('dim', `— the bot "${bot}" (${kind}, ${language}) ${way} —`));
      }
      case 'caller':
        if (event.kind === 'no-input') return this.#print(coloured('yellow', 'silence'));
        if (event.kind === 'spoken') return this.#caller(event.text);
        return this.#print(`${coloured('cyan', 'keys   ')} ${event.text}`);
      case 'unheard':
        this.#caller(event.text);
        return this.#aside(
          event.because === 'only-keys'
            ? 'these words are not heard: only keys are taken here (/keys 123)'
            : 'these words are no turn of the caller, as a "well" or a "mm-hm" is none: the bot is not asked',
        );
      case 'understood':
        return this.#aside(readingText(event.answer, this.#asked === 'card' || this.#asked === 'otp'));
      case 'says':
        return this.#says(event);
      case 'plays':
        return this.#aside(`plays ${event.source}`);
      case 'action':
        return this.#action(event.action);
      case 'cut':
        return this.#aside(
          event.heard === '' ? 'interrupted: nothing of it was heard' : `interrupted: heard of it: ${event.heard}`,
        );
      case 'answered-by':
        return this.#aside(`answered by: ${event.by}`);
      case 'opted-out':
        this.#caller(event.text);
        return this.#aside(event.kind === 'opt-out' ? 'the caller wants no more calls' : 'it is a wrong number');
      case 'failure':
        return this.#print(`${coloured('red', 'failed ')} ${event.message}`);
      case 'warning':
        return this.#aside(`warning: ${event.message}`, 'yellow');
      case 'end': {
        const slots = Object.entries(event.variables).map(([name, value]) => `${name} = ${value}`);
        if (slots.length > 0) this.#aside(slots.join(', '));
        return this.#print(coloured('dim', `— the call is over: ${event.reason} —`));
      }
    }
  }

  #caller(text: string): void {
    if (text !== '' && !this.#typed) this.#print(`${coloured('cyan', 'caller ')} ${text}`);
  }

  #says({ text, language, voice }: ChatEvent & { readonly type: 'says' }): void {
    const changes = [...(language === this.#language ? [] : [language]), ...((this.#voice ?? voice) === voice ? [] : [voice])];
    this.#language = language;
    this.#voice = voice;
    if (changes.length > 0) this.#aside(`speaks ${changes.join(', ')}`);
    this.#print(`${coloured('green', 'bot    ')} ${text}`);
  }

  #action(action: Exclude<DialogAction, AudibleAction>): void {
    switch (action.type) {
      case 'gather':
        this.#asked = action.contract?.kind;
        if (action.contract !== undefined) this.#aside(gatherText(action.contract));
        return;
      case 'set':
        for (const [name, value] of Object.entries(action.variables))
          this.#aside(`${name} = ${value === '' ? '(empty)' : value}`);
        return;
      case 'note':
        // A flow's note of its request, and the bot that takes over, are seen as such.
        return this.#aside(`note: ${action.text}`);
      case 'language':
      case 'listen':
      case 'step':
      case 'usage':
        // What is said next shows it.
        return;
      case 'bot':
        return this.#aside(`the call goes on with the bot "${action.name}"`);
      case 'fail-over':
        return this.#aside(failOverText(action));
      case 'call-back':
        return this.#aside(action.at === undefined ? 'wants to be called, some time' : `wants to be called: ${action.at}`);
      case 'recording':
        return this.#aside(`recording ${action.on ? 'on' : 'off'}`);
      case 'hangup':
        // The end of the call says why.
        return;
      case 'transfer':
        return this.#aside(`transfers to ${action.to}`);
      case 'cancel-transfer':
        return this.#aside('calls the transfer off');
      case 'digits':
        return this.#aside(`presses ${action.digits}`);
    }
  }

  #aside(text: string, style: 'dim' | 'yellow' = 'dim'): void {
    this.#print(coloured(style, `        ${text}`));
  }
}

function gatherText(contract: NonNullable<(DialogAction & { type: 'gather' })['contract']>): string {
  const { kind, ...rest } = contract;
  const options = Object.entries(rest).flatMap(([name, value]) => {
    if (value === undefined || (name === 'readBack' && value !== 'always')) return [];
    if (name === 'readBack') return ['reads it back'];
    if (name === 'options' && Array.isArray(value))
      return [value.map((option: { name?: string }) => option.name ?? '').join(' or ')];
    return [typeof value === 'object' ? name : `${name} ${String(value)}`];
  });
  return `asks for: ${[kind, ...options].join(', ')}${kind === 'card' || kind === 'otp' ? ' (keys only, and hidden)' : ''}`;
}

function readingText(reading: AnswerReading, isSecret: boolean): string {
  switch (reading.status) {
    case 'complete':
      if (isSecret) return 'understood: a whole value, which the bot has as a token';
      return `understood: ${reading.value}`;
    case 'incomplete': {
      const missing = reading.missing === undefined ? '' : `, ${reading.missing} missing`;
      return reading.soFar === '' ? 'understood no part of the value' : `understood so far: ${reading.soFar}${missing}`;
    }
    case 'impossible':
      return `impossible (${reading.why})${reading.soFar === '' ? '' : `: ${reading.soFar}`}`;
    case 'ambiguous':
      return `may be: ${reading.values.join(' or ')}`;
  }
}
