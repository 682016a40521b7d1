// When a dictated answer would have been taken for ended: a clock in steps of 20 ms, and a recogniser that is always right.
import { ANSWER_READER, type ExpectedAnswer } from '../../src/call/control/answer-reader.ts';
import { endOfTurn, waitMs } from '../../src/call/turn/end-of-turn.ts';
import { DEFAULT_ENDPOINTING } from '../../src/call/turn/turn-settings.ts';
import type { Dictated, Draw, Group, SpokenLanguage } from './dictation.ts';

const TICK_MS = 20;
/** A word is known this long after it was said. */
export const RECOGNISED_MS = 250;
const PAUSE_MS = [200, 900] as const;
/** Share of pauses in which somebody looks something up, and how long these are. */
const THINKING_SHARE = 0.08;
const THINKING_MS = [900, 1_500] as const;
export const TODAY = '2026-01-01';

interface SpokenWord {
  readonly text: string;
  readonly endMs: number;
}

export interface Utterance {
  readonly words: readonly SpokenWord[];
  /** Start and end of each stretch of voice. */
  readonly voiced: readonly (readonly [number, number])[];
  readonly endMs: number;
}

export interface Ending {
  /** The answer was taken for ended although words were to come. */
  readonly cutOff: boolean;
  /** From the last sound to the end of the turn; undefined when it was cut off. */
  readonly afterSpeechMs: number | undefined;
}

/** Says the groups: 180 to 420 ms a word, pauses between the groups. */
export function speak(draw: Draw, groups: readonly Group[]): Utterance {
  const words: SpokenWord[] = [];
  const voiced: (readonly [number, number])[] = [];
  let nowMs = 0;
  for (const [index, group] of groups.entries()) {
    if (index > 0) {
      const [least, most] = draw.chance(THINKING_SHARE) ? THINKING_MS : PAUSE_MS;
      nowMs += least + draw.unit() * (most - least);
    }
    const startMs = nowMs;
    for (const text of group) {
      nowMs += 180 + draw.unit() * 240;
      words.push({ text, endMs: nowMs });
    }
    voiced.push([startMs, nowMs]);
  }
  return { words, voiced, endMs: nowMs };
}

export function endByContract(dictated: Dictated, { words, voiced, endMs }: Utterance, language: SpokenLanguage): Ending {
  const { endOfTurn: rules, endpointingMs } = DEFAULT_ENDPOINTING;
  const expected: ExpectedAnswer = { contract: dictated.contract, context: { language, today: TODAY } };
  let known = -1;
  let changedMs = 0;
  let progress = ANSWER_READER.progress(expected, '', '');
  for (let nowMs = TICK_MS; ; nowMs += TICK_MS) {
    const last = voiced.findLast(([startMs]) => startMs <= nowMs)!;
    const silentMs = nowMs - Math.min(nowMs, last[1]);
    if (silentMs === 0) continue;
    const heard = words.filter((word) => word.endMs + RECOGNISED_MS <= nowMs);
    const text = heard.map((word) => word.text).join(' ');
    if (heard.length !== known) {
      known = heard.length;
      changedMs = nowMs;
      progress = ANSWER_READER.progress(expected, text, '');
    }
    const likelihood = endOfTurn(rules, { silentMs, text, stillMs: nowMs - changedMs, pauses: [], progress, heard: undefined });
    if (silentMs < waitMs(rules, likelihood, endpointingMs)) continue;
    const cutOff = nowMs < endMs;
    return { cutOff, afterSpeechMs: cutOff ? undefined : nowMs - endMs };
  }
}
