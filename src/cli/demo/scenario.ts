import type { CallerStep } from '../../sim/caller/caller.ts';
import { cough } from '../../sim/caller/cough.ts';
import type { CallerVoice } from '../../sim/caller/voice.ts';

/** One act of the demo's caller, and the expected result. */
export interface ScriptLine {
  readonly act: 'say' | 'interrupt' | 'cough' | 'press' | 'wait-for-end';
  /** The words, or the key. */
  readonly text: string;
  /** Time from the bot's first sound, for an interruption. */
  readonly afterMs?: number;
  /** The reply must match this; undefined for no reply. */
  readonly reply?: RegExp;
}

export interface Scenario {
  readonly bot: string;
  readonly language: string;
  /** The caller's speaking rate, which differs from the recogniser's training data. */
  readonly rate: number;
  readonly lines: readonly ScriptLine[];
}

const english: Scenario = {
  bot: 'clinic',
  language: 'en',
  rate: 0.95,
  lines: [
    { act: 'say', text: 'when are you open', reply: /eight in the morning/u },
    { act: 'cough', text: '', afterMs: 2_500 },
    { act: 'interrupt', text: "I'd like to book an appointment", afterMs: 6_000, reply: /Which day/u },
    { act: 'say', text: 'Tuesday at half past ten', reply: /Tuesday at half past ten.*right\?/u },
    { act: 'say', text: 'yes please', reply: /Press one for a reminder/u },
    { act: 'press', text: '2', reply: /Goodbye/u },
    { act: 'wait-for-end', text: '' },
  ],
};

const hindi: Scenario = {
  bot: 'clinic-hi',
  language: 'hi',
  rate: 0.95,
  lines: [
    { act: 'say', text: 'क्लिनिक कब खुलता है', reply: /सुबह आठ/u },
    { act: 'cough', text: '', afterMs: 2_500 },
    { act: 'interrupt', text: 'अपॉइंटमेंट बुक करना है', afterMs: 6_000, reply: /दिन/u },
    { act: 'say', text: 'मंगलवार सुबह साढ़े दस बजे', reply: /मंगलवार.*साढ़े दस/u },
    { act: 'say', text: 'जी हाँ', reply: /./u },
    { act: 'press', text: '2', reply: /./u },
    { act: 'wait-for-end', text: '' },
  ],
};

/** Changes of tests, to see the demo fail. */
export interface Tampering {
  /** Swaps the caller's first two spoken lines. */
  readonly swapLines?: boolean;
  /** Replaces the caller's audio by silence. */
  readonly mute?: boolean;
}

export function scenarioFor(language: string): Scenario {
  return language === 'hi' ? hindi : english;
}

/** The caller's steps with synthesised lines; tampering changes lines, not expectations. */
export async function callerSteps(
  scenario: Scenario,
  voice: Pick<CallerVoice, 'say'>,
  tampering: Tampering = {},
): Promise<readonly CallerStep[]> {
  const [first, second] = tampering.swapLines === true ? scenario.lines.filter(({ act }) => act === 'say') : [];
  const swapped = (line: (typeof scenario.lines)[number]) => (line === first ? second : line === second ? first : line) ?? line;
  const texts = scenario.lines.map((line) => swapped(line).text);
  const steps: CallerStep[] = [];
  for (const [index, { act, afterMs = 0 }] of scenario.lines.entries()) {
    const text = texts[index] ?? '';
    switch (act) {
      case 'say':
      case 'interrupt': {
        const spoken = await voice.say(text, { language: scenario.language, rate: scenario.rate });
        const pcm = tampering.mute === true ? new Int16Array(spoken.length) : spoken;
        steps.push(act === 'say' ? { kind: act, text, pcm } : { kind: act, text, pcm, afterMs });
        break;
      }
      case 'cough':
        steps.push({ kind: act, pcm: cough(300, 3), afterMs });
        break;
      case 'press':
        steps.push({ kind: act, digits: text });
        break;
      case 'wait-for-end':
        steps.push({ kind: act });
    }
  }
  return steps;
}
