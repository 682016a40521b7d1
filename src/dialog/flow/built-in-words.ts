import { ASKING_AGAIN, type Language } from '../../language/index.ts';

/** The commands that every flow has unless it switches them off. */
export const BUILT_IN_COMMANDS = ['help', 'repeat', 'stop', 'goodbye', 'operator', 'callBack'] as const;
export type BuiltInCommand = (typeof BUILT_IN_COMMANDS)[number];

export interface BuiltInWords {
  readonly yes: string;
  readonly no: string;
  /** Spoken before the question is repeated: the first time, and later times. */
  readonly notUnderstood: readonly [string, string];
  readonly noInput: readonly [string, string];
  readonly help: string;
  readonly stop: string;
  /** Spoken while a server is awaited. */
  readonly moment: string;
  readonly goodbye: string;
  readonly closedDay: string;
  readonly closedTime: string;
  readonly refused: string;
  /** Said when a call-back is agreed: with the time in `heard`, or without one. */
  readonly callBack: string;
  readonly callBackLater: string;
  readonly commands: Readonly<Record<BuiltInCommand, readonly string[]>>;
  /** Phrases that are commands only when nothing else is said: an answer may begin with them (`hello, I want to cancel`). */
  readonly alone: Readonly<Partial<Record<BuiltInCommand, readonly string[]>>>;
  /** Names of a day or a time when the caller corrects it. */
  readonly called: { readonly day: readonly string[]; readonly time: readonly string[] };
  readonly everything: readonly string[];
  /** Words to expect, by kind of answer. */
  readonly hints: Readonly<Record<'day' | 'time' | 'digits' | 'yes-no', readonly string[]>>;
}

const list = (phrases: string): readonly string[] => phrases.split(', ');

const english: BuiltInWords = {
  yes: 'yes',
  no: 'no',
  notUnderstood: ['Sorry, I did not catch that.', 'Sorry, I still did not get that.'],
  noInput: ['Are you still there?', 'I cannot hear you.'],
  help: 'You can answer in your own words. Say repeat to hear the question again, or goodbye to end the call.',
  stop: 'All right.',
  moment: 'One moment, please.',
  goodbye: 'Thank you for calling. Goodbye.',
  closedDay: 'I am sorry, {{ heard }} is not possible.',
  closedTime: 'I am sorry, {{ heard }} is not possible.',
  refused: 'I am sorry, that is not possible.',
  callBack: 'All right, I will call you {{ heard }}. Goodbye.',
  callBackLater: 'All right, I will call you another time. Goodbye.',
  commands: {
    help: ['help', 'help me', 'what can i say', 'i need help'],
    repeat: ASKING_AGAIN.en.anywhere,
    stop: list('stop, wait, hold on, hang on, one moment, just a moment, one second, just a second, one minute, just a minute'),
    goodbye: ['goodbye', 'good bye', 'bye', 'bye bye', 'hang up', 'end the call', "that's all"],
    operator: list(
      'operator, speak to a person, talk to a person, speak to someone, talk to someone, a real person, a human, a live person, a representative',
    ),
    // Handled by the call: see `askedForCall`.
    callBack: [],
  },
  alone: { repeat: ASKING_AGAIN.en.alone },
  called: { day: ['day', 'date'], time: ['time', 'hour'] },
  everything: ['both', 'everything', 'all of it'],
  hints: {
    day: list('Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday, today, tomorrow, day after tomorrow'),
    time: list("half past, quarter past, quarter to, o'clock, in the morning, in the afternoon, noon, thirty, ten, at"),
    digits: ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'],
    'yes-no': ['yes', 'no', "that's right", 'correct', 'wrong', 'yes please', 'no thank you'],
  },
};

const hindi: BuiltInWords = {
  yes: 'हाँ',
  no: 'नहीं',
  notUnderstood: ['माफ़ कीजिए, मैं समझ नहीं पाई।', 'माफ़ कीजिए, मैं अब भी नहीं समझ पाई।'],
  noInput: ['क्या आप लाइन पर हैं?', 'मुझे आपकी आवाज़ नहीं आ रही।'],
  help: 'आप अपने शब्दों में जवाब दे सकते हैं। सवाल फिर सुनने के लिए दोहराइए कहिए, या कॉल ख़त्म करने के लिए अलविदा कहिए।',
  stop: 'ठीक है।',
  moment: 'एक पल रुकिए।',
  goodbye: 'फ़ोन करने के लिए धन्यवाद। नमस्ते।',
  closedDay: 'माफ़ कीजिए, {{ heard }} को संभव नहीं है।',
  closedTime: 'माफ़ कीजिए, {{ heard }} संभव नहीं है।',
  refused: 'माफ़ कीजिए, यह संभव नहीं है।',
  callBack: 'ठीक है, मैं आपको {{ heard }} फ़ोन करूँगी। नमस्ते।',
  callBackLater: 'ठीक है, मैं आपको बाद में फ़ोन करूँगी। नमस्ते।',
  commands: {
    help: ['मदद', 'मदद चाहिए', 'मदद कीजिए', 'सहायता', 'हेल्प'],
    repeat: ASKING_AGAIN.hi.anywhere,
    stop: ['रुकिए', 'रुको', 'रुक जाइए', 'ठहरिए', 'एक मिनट', 'एक सेकंड', 'बस', 'स्टॉप'],
    goodbye: ['अलविदा', 'फ़ोन रखिए', 'बंद कीजिए', 'बाय'],
    operator: ['ऑपरेटर', 'किसी से बात', 'किसी व्यक्ति से बात', 'आदमी से बात', 'किसी इंसान से बात'],
    callBack: [],
  },
  alone: { repeat: ASKING_AGAIN.hi.alone },
  called: { day: ['दिन', 'तारीख'], time: ['समय', 'टाइम', 'वक़्त'] },
  everything: ['दोनों', 'सब', 'सब कुछ'],
  hints: {
    day: ['सोमवार', 'मंगलवार', 'बुधवार', 'गुरुवार', 'शुक्रवार', 'शनिवार', 'रविवार', 'आज', 'कल', 'परसों'],
    time: ['बजे', 'साढ़े', 'सवा', 'पौने', 'ढाई', 'डेढ़', 'सुबह', 'दोपहर', 'शाम', 'दस'],
    digits: ['शून्य', 'एक', 'दो', 'तीन', 'चार', 'पाँच', 'छह', 'सात', 'आठ', 'नौ'],
    'yes-no': ['हाँ', 'नहीं', 'जी हाँ', 'जी नहीं', 'ठीक है', 'सही है', 'गलत है'],
  },
};

/** The prompts and phrases that every flow has. */
export function builtInWords(language: Language): BuiltInWords {
  return language === 'hi' ? hindi : english;
}
