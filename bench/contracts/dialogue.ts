// Collecting a value from a caller whose words are misheard now and then, until it is taken or given up.
import { type ContractInput, type ContractStep, startContract, contractStep } from '../../src/language/index.ts';
import { type Dictated, type Draw, type Group, spokenDigit, type SpokenLanguage } from './dictation.ts';
import { TODAY } from './endpointing.ts';

/** For every word: heard as another one of its kind, lost, or doubled. */
export const WORD_ERRORS = { substituted: 0.012, lost: 0.006, added: 0.002 } as const;
/** A yes or no that is heard as the other, or as nothing that can be used. */
export const ANSWER_ERRORS = { flipped: 0.003, lost: 0.02 } as const;
/** Share of callers who type where they are offered to say it again or to type it. */
export const TYPING_SHARE = 0.3;
const MOST_TURNS = 20;

/** Words that are taken for one another: all digits, all tens, all letters, words of a name. */
const ALIKE: Readonly<Record<SpokenLanguage, readonly string[]>> = {
  en: [
    'zero one two three four five six seven eight nine',
    'thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
    'thirty forty fifty sixty seventy eighty ninety',
    'A J K H',
    'B C D E G P T V Z',
    'F S X M N',
    'anita sunita kavita',
    'ravi varun arjun',
    'sharma verma',
    'gmail hotmail',
  ],
  hi: [
    'एक दो तीन चार पाँच छह सात आठ नौ शून्य',
    'पच्चीस पचास छब्बीस तैंतीस तैंतालीस तिरेपन उनसठ उनहत्तर',
    'ए जे के एच',
    'बी सी डी ई जी पी टी वी',
    'अनीता सुनीता कविता',
    'anita sunita kavita',
    'रवि वरुण अर्जुन',
    'शर्मा वर्मा',
    'सवा साढ़े',
  ],
};

export interface Collected {
  readonly outcome: 'exact' | 'wrong' | 'given-up';
  readonly readBacks: number;
  readonly turns: number;
  /** Its first hearing was not what was said. */
  readonly misheardFirst: boolean;
}

export function collect(draw: Draw, dictated: Dictated, language: SpokenLanguage): Collected {
  const { contract, value } = dictated;
  let step: ContractStep = { state: startContract(contract, { language, today: TODAY }), say: '', expect: contract };
  let given = dictated.groups;
  let misheardFirst = false;
  for (let turns = 1; turns <= MOST_TURNS; turns++) {
    const { input, misheard } = answerOf(draw, step, dictated, given, language);
    if (turns === 1) misheardFirst = misheard;
    if (step.state.stage !== 'confirming') given = dictated.again;
    step = contractStep(step.state, input);
    if (step.done === undefined) continue;
    if (step.done.status === 'given-up') return { outcome: 'given-up', readBacks: step.state.readBacks, turns, misheardFirst };
    const outcome = step.done.value === value ? 'exact' : 'wrong';
    return { outcome, readBacks: step.done.readBacks, turns, misheardFirst };
  }
  return { outcome: 'given-up', readBacks: step.state.readBacks, turns: MOST_TURNS, misheardFirst };
}

function answerOf(
  draw: Draw,
  step: ContractStep,
  dictated: Dictated,
  groups: readonly Group[],
  language: SpokenLanguage,
): { input: ContractInput; misheard: boolean } {
  const { state, say } = step;
  switch (state.stage) {
    case 'confirming':
      return {
        input: { kind: 'spoken', text: verdict(draw, state.candidates[0] === dictated.value, groups, language) },
        misheard: false,
      };
    case 'choosing': {
      // The caller hears the values and names the place of the right one.
      const place = state.candidates.indexOf(dictated.value);
      const text =
        place < 0
          ? misheardWords(draw, groups, language)
          : language === 'hi'
            ? ['पहला', 'दूसरा'][place]!
            : ['the first one', 'the second one'][place]!;
      return { input: { kind: 'spoken', text }, misheard: false };
    }
    case 'collecting':
    case 'done': {
      // Asked for the keypad, people use it; offered, some do. Keys arrive as they were pressed.
      const keys = dictated.value.replace('+91', '');
      const typed = /keypad|कीपैड/.test(say) && /^\d+$/.test(keys) && draw.chance(state.rejected.length > 1 ? 1 : TYPING_SHARE);
      if (typed) return { input: { kind: 'keyed', keys: `${keys}#` }, misheard: false };
      const heard = misheardWords(draw, groups, language);
      return { input: { kind: 'spoken', text: heard }, misheard: heard !== groups.flat().join(' ') };
    }
  }
}

/** Half of those who say no say at once what it is. */
function verdict(draw: Draw, right: boolean, groups: readonly Group[], language: SpokenLanguage): string {
  if (draw.chance(ANSWER_ERRORS.lost)) return '';
  const heard = right !== draw.chance(ANSWER_ERRORS.flipped);
  const words = heard
    ? language === 'hi'
      ? ['हाँ', 'जी', 'हाँ जी', 'सही है']
      : ['yes', 'yeah', "that's right", 'correct']
    : language === 'hi'
      ? ['नहीं', 'जी नहीं', 'गलत है']
      : ['no', 'wrong', "that's not right"];
  const word = draw.pick(words);
  return heard || right || draw.chance(0.5) ? word : `${word}, ${misheardWords(draw, groups, language)}`;
}

function misheardWords(draw: Draw, groups: readonly Group[], language: SpokenLanguage): string {
  return groups
    .flat()
    .flatMap((word) => {
      if (draw.chance(WORD_ERRORS.lost)) return [];
      if (draw.chance(WORD_ERRORS.added)) return [word, spokenDigit(language, String(draw.below(10)))];
      if (!draw.chance(WORD_ERRORS.substituted)) return [word];
      const others = ALIKE[language].map((row) => row.split(' ')).find((row) => row.includes(word));
      const another = others?.filter((other) => other !== word);
      return [another === undefined ? word : draw.pick(another)];
    })
    .join(' ');
}
