import { type AudibleAction, BEEP, type DialogAction } from '../port.ts';
import type { Language } from '../../language/index.ts';
import type { FlowState } from './flow-state.ts';
import type { Flow, Prompt, Slot, StateDocument } from './schema.ts';
import { contractOfQuestion, contractSlotHints, contractSlotKeys, isContractSlot } from './slot-contract.ts';
import { inLanguage, sayPrompts, type TextScope } from './text.ts';
import { builtInWords } from './built-in-words.ts';

/** At most ten terms bias a recogniser (ASR doc, streaming rule 2). */
const MOST_HINTS = 10;
const FEWEST_TRIES = 2;

/** The open question of an `ask` or a `confirm`. */
export interface Question {
  readonly prompts: readonly Prompt[];
  readonly notUnderstood: readonly (readonly Prompt[])[];
  readonly noInput: readonly (readonly Prompt[])[];
  readonly misunderstandings: number;
  readonly silences: number;
  readonly giveUp: string | undefined;
  readonly gather: DialogAction & { readonly type: 'gather' };
}

/** The question of the state the conversation stands at; undefined before the start and after the end. */
export function openQuestion(flow: Flow, state: FlowState): Question | undefined {
  const at = Object.hasOwn(flow.states, state.at) ? flow.states[state.at] : undefined;
  const asking = at?.ask ?? at?.confirm;
  if (at === undefined || asking === undefined) return undefined;
  const slot = at.ask === undefined ? undefined : flow.slots[at.ask.slot];
  const hints =
    asking.hints ??
    (slot !== undefined
      ? slotHints(slot, state.language)
      : state.stage === 'which'
        ? Object.keys(at.confirm?.parts ?? {}).flatMap((part) => calledPhrases(flow, part, state.language).slice(0, 2))
        : builtInWords(state.language).hints['yes-no']);
  const contract = slot === undefined ? undefined : contractOfQuestion(slot);
  const maxDigits = slot === undefined ? 1 : mostKeys(slot);
  const notUnderstood = asking.notUnderstood ?? [];
  const noInput = asking.noInput ?? [];
  return {
    prompts: state.stage === 'which' ? (at.confirm?.which ?? asking.prompt) : asking.prompt,
    notUnderstood,
    noInput,
    misunderstandings: asking.tries ?? Math.max(FEWEST_TRIES, notUnderstood.length),
    silences: asking.tries ?? Math.max(FEWEST_TRIES, noInput.length),
    giveUp: asking.giveUp ?? flow.giveUp,
    gather: {
      type: 'gather',
      ...(hints.length === 0 ? {} : { hints: [...new Set(hints)].slice(0, MOST_HINTS) }),
      ...(asking.endpointingMs === undefined ? {} : { endpointingMs: asking.endpointingMs }),
      ...(asking.noInputMs === undefined ? {} : { noInputMs: asking.noInputMs }),
      maxDigits,
      ...(contract === undefined ? {} : { contract }),
    },
  };
}

/** The tone and the recording after it. A voice does not interrupt the words before; a key skips to the tone. */
export function askForMessage(
  { prompt = [], silenceMs, maxMs, noInputMs }: NonNullable<StateDocument['voicemail']>,
  scope: TextScope,
): { says: AudibleAction[]; gather: DialogAction } {
  const words = sayPrompts(prompt, scope).map((each) => ({ interruptible: 'keypad' as const, ...each }));
  return {
    says: [...words, { type: 'play', source: BEEP, interruptible: 'never' }],
    gather: { type: 'gather', endpointingMs: silenceMs, noInputMs, message: { maxMs, record: true } },
  };
}

/** Names that the caller may use for a slot when correcting it. */
export function calledPhrases(flow: Flow, slotName: string, language: Language): readonly string[] {
  const slot = Object.hasOwn(flow.slots, slotName) ? flow.slots[slotName] : undefined;
  const own = slot?.called === undefined ? undefined : inLanguage<readonly string[]>(slot.called, language);
  if (own !== undefined) return own;
  const words = builtInWords(language);
  return slot?.kind === 'day' ? words.called.day : slot?.kind === 'time' ? words.called.time : [slotName];
}

export function digitLimits(slot: Slot & { kind: 'digits' }): { least: number; most: number } {
  return slot.length === undefined ? { least: slot.least, most: slot.most } : { least: slot.length, most: slot.length };
}

function slotHints(slot: Slot, language: Language): readonly string[] {
  if (slot.kind === 'text') return [];
  if (isContractSlot(slot)) return contractSlotHints(slot, language);
  if (slot.kind !== 'choice') return builtInWords(language).hints[slot.kind];
  // The first phrase of every option comes before second ones.
  const lists = Object.values(slot.options).map((option) => inLanguage<readonly string[]>(option.phrases, language) ?? []);
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, rank) => lists.flatMap((list) => list.slice(rank, rank + 1))).flat();
}

/** Keys that complete an answer: one for a menu, four for a time (`1030`); one for commands without an open value. */
function mostKeys(slot: Slot): number {
  switch (slot.kind) {
    case 'choice':
      return Math.max(1, ...Object.values(slot.options).map((option) => option.key?.length ?? 0));
    case 'time':
      return 4;
    case 'digits':
      return digitLimits(slot).most;
    case 'phone':
    case 'money':
    case 'code':
    case 'email':
    case 'name':
      return contractSlotKeys(slot);
    case 'day':
    case 'yes-no':
    case 'text':
      return 1;
  }
}
