import { CallerVoice } from '../../src/sim/caller/voice.ts';
import { fromFirstSound, readClips } from '../recordings.ts';

/** Sentences and answers at 8 kHz, about −20 dBFS, without silence around them. */
export interface Speech {
  readonly bot: readonly Int16Array[];
  readonly caller: readonly Int16Array[];
}

const LEVEL_DB = -20;

const BOT_VOICES = ['slt', 'rms'];
const CALLER_VOICES = [
  { voice: 'awb', language: 'en', rate: 1 },
  { voice: 'kal16', language: 'en', rate: 1.1 },
  { voice: 'hi+Annie', language: 'hi', rate: 1 },
  { voice: 'hi+m5', language: 'hi', rate: 1 },
];

const BOT_TEXTS = [
  'Good morning, this is the appointment line of the Riverside practice. How can I help you today?',
  'I have a free slot on Tuesday at half past ten, or on Wednesday at a quarter to three.',
  'Please tell me your date of birth, so that I can find your record.',
  'Your parcel left our warehouse yesterday evening and should reach you tomorrow before noon.',
  'For security reasons I need the last four digits of the number on the back of your card.',
  'Thank you, I have noted that. Is there anything else that I can do for you?',
  'The balance of your account is one thousand two hundred and forty five rupees.',
  'I am sorry, I did not understand that. Could you say it again, a little more slowly?',
  'Our offices are open from Monday to Friday between nine in the morning and six in the evening.',
  'If you would like to speak to a person, just say so at any time.',
  'The next train leaves at seventeen minutes past eight from platform four.',
  'Your booking reference is bravo seven nine kilo two, and a message with it is on its way.',
];

const CALLER_TEXTS: Readonly<Record<string, readonly string[]>> = {
  en: [
    'No wait, I need a different day.',
    'Excuse me, can I speak to a person please?',
    'Tuesday does not work for me.',
    'Yes, that is right, please book it.',
    'Hold on a moment.',
    'I already told you my name.',
    'Actually I want to cancel my order.',
    'Can you repeat that?',
    'My number is nine eight seven six.',
    'What are your opening hours?',
  ],
  hi: [
    'रुकिए, मुझे दूसरा दिन चाहिए।',
    'मुझे किसी इंसान से बात करनी है।',
    'मंगलवार मेरे लिए ठीक नहीं है।',
    'मैंने अपना नाम पहले ही बता दिया।',
    'नहीं, यह ग़लत है।',
    'आप कब तक खुले हैं?',
  ],
};

/** The synthesizer's bot and callers; no voice is on both sides. */
export async function synthesizedSpeech(): Promise<Speech> {
  await using speaker = new CallerVoice();
  const bot: Int16Array[] = [];
  const caller: Int16Array[] = [];
  for (const text of BOT_TEXTS) for (const voice of BOT_VOICES) bot.push(await speaker.say(text, { language: 'en', voice }));
  for (const style of CALLER_VOICES)
    for (const text of CALLER_TEXTS[style.language] ?? []) caller.push(await speaker.say(text, style));
  return { bot, caller };
}

/** Recorded people: the prompts speak for the bot, everyone else calls. */
export function humanSpeech(folder: string): Speech {
  const clips = readClips(folder, LEVEL_DB).map(({ name, pcm }) => ({ name, pcm: fromFirstSound(pcm, LEVEL_DB - 15, 20) }));
  const isPrompt = ({ name }: { readonly name: string }): boolean => name.startsWith('prompt-');
  return {
    bot: clips.filter((clip) => isPrompt(clip) && clip.pcm.length > 2 * 8_000).map(({ pcm }) => pcm),
    caller: clips.filter((clip) => !isPrompt(clip)).map(({ pcm }) => pcm),
  };
}
